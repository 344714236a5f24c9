import { formatTransactionHash } from "@geoswap/protocol";
import { bytesToHex } from "viem";
import { expect } from "vitest";
import { restoreBackup, takeBackup } from "../service/backup.ts";
import { markerOf, successesOf } from "./solana-lane-scene.ts";
import type { SolanaLanes } from "./solana-lanes.ts";

/**
 * Pays three orders while the chain, its nodes and the database fail in any way they may, in an order that the seed
 * decides.
 */
export async function payThroughFaults(lanes: SolanaLanes, seed: number): Promise<void> {
	const { pump, follow, start, slots, setFaults, states, balance, scene, owner } = lanes;
	const random = randomOf(seed);
	const payouts = await Promise.all(Array.from({ length: 3 }, () => lanes.queuePayout()));
	const anything = [
		() => pump({ lane: random(2) }),
		() => pump({ lane: random(2) }),
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
	const orders = payouts.map(({ order }) => order);
	for (let round = 0; round < 40; round++) {
		await slots(20);
		await pump({ lane: round % 2 });
		if ((await states(orders, "fill")).every((state) => state === "done")) break;
	}
	// No transaction that is still in flight lands after that.
	await slots(200);
	await pump();
	await slots(40);
	expect(await states(orders, "fill")).toEqual(["done", "done", "done"]);
	for (const { order, recipient } of payouts) {
		expect(await balance(recipient)).toBe(9_950_000n);
		expect(await successesOf(scene, await markerOf(scene, order, "vault"))).toHaveLength(1);
	}
}

/** Makes another fork win, without one of the payouts. The simple follower is told of it. */
async function dropSome(
	{ scene, follower, transactions }: SolanaLanes,
	random: (below: number) => number,
): Promise<void> {
	const all = await transactions();
	const hash = all[random(Math.max(all.length, 1))]?.hash;
	if (!hash) return;
	await scene.solana.admin.dropTransaction({
		signature: formatTransactionHash(scene.chain.chainId, bytesToHex(hash)),
	});
	if (follower === "real") return;
	await scene.pool.query(
		"update lane_transactions set state = 'broadcast', block_number = null where hash = $1",
		[hash],
	);
	await scene.pool.query(
		`update jobs j set state = 'sent' from lane_transactions t
		where t.hash = $1 and j.relayer = t.relayer and j.nonce = t.nonce and j.state = 'done'`,
		[hash],
	);
}

/** Returns a generator of numbers below a bound, the same for the same seed. */
function randomOf(seed: number): (below: number) => number {
	let state = seed + 1;
	return (below) => {
		state = (state * 48_271) % 2_147_483_647;
		return Math.floor((state / 2_147_483_647) * below);
	};
}
