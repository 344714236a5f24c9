import { formatTransactionHash } from "@geoswap/protocol";
import { bytesToHex } from "viem";
import { expect } from "vitest";
import { restoreBackup, takeBackup } from "../service/backup.ts";
import type { SolanaLanes } from "./solana-lanes.ts";

/**
 * Has lanes do a job of each kind that pays while the chain, its nodes and the database fail in any way they may, in an
 * order that the seed decides. Expects each order decided once and paid once.
 */
export async function payThroughFaults(lanes: SolanaLanes, seed: number): Promise<void> {
	const { runLane, follow, start, slots, setFaults, states, balance, outcomeOf, changesOf, owner } = lanes;
	const random = randomOf(seed);
	const paid = await lanes.queuePayout();
	const filled = await lanes.queueWithin("fill");
	const released = await lanes.queueSettlement("release");
	const refunded = await lanes.queueSettlement("refund");
	const inVault = await balance(lanes.chain.deployment.program.vault);
	const anything = [
		() => runLane({ lane: random(2) }),
		() => runLane({ lane: random(2) }),
		async () => {
			await follow();
			await Promise.all([0, 1, random(2)].map((lane) => start({ bundleSize: 1 + random(3) })(lane)));
		},
		() => slots(1 + random(8)),
		() => slots(1 + random(8)),
		() => slots(150 + random(100)),
		() => setFaults({}),
		() => setFaults({ dropSends: true }),
		() => setFaults({ dropSends: { next: 1 + random(2) }, stallFinality: random(2) === 0 }),
		() => setFaults({ dropAnswers: { next: 1 + random(4) } }),
		() => setFaults({ dropAnswers: { methods: ["sendTransaction"] } }),
		() => setFaults({ lieAboutStatus: "unknown" }),
		// The database is restored from a backup, or the chain takes another fork.
		() => takeBackup(owner),
		() => restoreBackup(owner),
		() => dropSome(lanes, random),
	];
	await takeBackup(owner);
	for (let step = 0; step < 25; step++) {
		await anything[random(anything.length)]?.().catch(() => {});
	}
	await setFaults({});
	const jobStates = async () => [
		...(await states([paid.order, filled.order], "fill")),
		...(await states([released.order], "release")),
		...(await states([refunded.order], "refund")),
	];
	const done = ["done", "done", "done", "done"];
	for (let round = 0; round < 40; round++) {
		await slots(20);
		await runLane({ lane: round % 2 });
		if ((await jobStates()).every((state) => state === "done")) break;
	}
	// No transaction that is still in flight lands after that.
	await slots(200);
	await runLane();
	await slots(40);
	expect(await jobStates()).toEqual(done);
	expect(await outcomeOf(paid.order)).toBe("filled");
	expect(await outcomeOf(filled.order)).toBe("released, paid");
	expect(await outcomeOf(released.order)).toBe("released, paid");
	expect(await outcomeOf(refunded.order)).toBe("refunded, paid");
	expect(await changesOf(paid.order)).toBe(1);
	// Each input arrived by one transaction and left by another.
	for (const { order } of [filled, released, refunded]) expect(await changesOf(order)).toBe(2);
	expect(await balance(paid.recipient)).toBe(9_950_000n);
	expect(await balance(filled.recipient, "USDT")).toBe(9_950_000n);
	expect(await balance(refunded.wallet.address)).toBe(refunded.order.inputAmount);
	const arrived = filled.order.inputAmount + released.order.inputAmount - 9_950_000n;
	expect(await balance(lanes.chain.deployment.program.vault)).toBe(inVault + arrived);
}

/** Makes another fork win, without one of the lanes' transactions. */
async function dropSome(
	{ scene, transactions }: SolanaLanes,
	random: (below: number) => number,
): Promise<void> {
	const all = await transactions();
	const hash = all[random(Math.max(all.length, 1))]?.hash;
	if (!hash) return;
	await scene.solana.admin.dropTransaction({
		signature: formatTransactionHash(scene.chain.chainId, bytesToHex(hash)),
	});
}

/** Returns a generator of numbers below a bound, the same for the same seed. */
function randomOf(seed: number): (below: number) => number {
	let state = seed + 1;
	return (below) => {
		state = (state * 48_271) % 2_147_483_647;
		return Math.floor((state / 2_147_483_647) * below);
	};
}
