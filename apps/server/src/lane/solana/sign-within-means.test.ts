import { emptyAccountRentLamports, tokenAccountRentLamports } from "@geoswap/protocol";
import { getCompiledTransactionMessageDecoder, getTransactionDecoder } from "@solana/kit";
import { COMPUTE_BUDGET_PROGRAM_ADDRESS } from "@solana-program/compute-budget";
import { afterAll, beforeEach, expect, test } from "vitest";
import { readJob } from "../../../test/lane/lane-scene.ts";
import { newSolanaWallet } from "../../../test/lane/solana-lane-scene.ts";
import { createSolanaLanes } from "../../../test/lane/solana-lanes.ts";
import { withLamports } from "../../../test/solana/with-lamports.ts";
import { maxLamports } from "./max-lamports.ts";

const lanes = await createSolanaLanes();
const { runLane, start, slots, setFaults, clear, follow, queuePayout, queueOpen, states, transactions } =
	lanes;
const { scene, feePayerOf } = lanes;
beforeEach(() => clear());
afterAll(() => lanes.stop());

test("transactions that are signed or in flight never cost more than the fee payer's balance", async () => {
	const orders = [];
	for (let i = 0; i < 3; i++) orders.push((await queuePayout()).order);
	const lamports = emptyAccountRentLamports + 2n * maxLamports("fill");
	const chain = withLamports(scene.chain, { address: feePayerOf(0), lamports });
	await setFaults({ dropSends: true });
	for (let run = 0; run < 2; run++) {
		await runLane({ chain });
		expect(await states(orders, "fill")).toEqual(["sent", "sent", "queued"]);
	}
	// Another lane has enough.
	await runLane({ lane: 1 });
	expect(await states(orders, "fill")).toEqual(["sent", "sent", "sent"]);
});

test("a fee payer that cannot afford an op leaves it, leaves other jobs to other lanes, and refuses an op that has expired", async () => {
	const others = [];
	for (let i = 0; i < 2; i++) others.push((await queuePayout()).order);
	const [funded, expired] = [await queueOpen(), await queueOpen({ wallet: 1 })];
	const lamports = emptyAccountRentLamports + maxLamports("fill") - 1n;
	const chain = withLamports(scene.chain, { address: feePayerOf(0), lamports });
	await runLane({ chain, bundleSize: 2 });
	expect(await states([funded.order, expired.order], "open")).toEqual(["queued", "queued"]);
	expect(await states(others, "fill")).toEqual(["queued", "queued"]);
	await runLane({ lane: 1 });
	expect(await states(others, "fill")).toEqual(["sent", "sent"]);
	await runLane({ bundleSize: 1 });
	expect(await states([funded.order], "open")).toEqual(["sent"]);

	await slots(200);
	await runLane({ chain });
	const refused = { state: "refused", reason: "expired" };
	expect(await readJob(scene.pool, expired.swapId, "open")).toMatchObject(refused);
});

test("a payout that would leave the fee payer below its rent does not count against the recipient", async () => {
	const feePayer = await newSolanaWallet(scene);
	await scene.solana.admin.airdrop({
		address: feePayer.address,
		lamports: tokenAccountRentLamports + 100_000n,
	});
	const { swapId } = await queuePayout();
	await follow();
	// The fee payer has just paid for something else, so it has less than the lane reads.
	const deployment = { ...scene.chain.deployment, feePayers: [feePayer.address] };
	const chain = withLamports(
		{ ...scene.chain, deployment },
		{ address: feePayer.address, lamports: 10n ** 9n },
	);
	await start({ chain, keys: { ...scene.keys, feePayers: [feePayer] } })();
	expect(await readJob(scene.pool, swapId, "fill")).toMatchObject({ state: "queued", failures: 0 });
	expect(await transactions()).toEqual([]);
});

test("a transaction that keeps getting lost is signed with a higher compute price, up to a limit", async () => {
	await queuePayout();
	await setFaults({ dropSends: true });
	for (let lost = 0; lost < 9; lost++) {
		await runLane();
		await slots(200);
	}
	const prices = (await transactions()).map(({ raw }) => computePrice(raw));
	const doubled = [0, 1, 2, 3, 4, 5, 6].map((lost) => 50_000n << BigInt(lost));
	expect(prices).toEqual([...doubled, 5_000_000n, 5_000_000n]);
});

/** Returns the compute price in micro-lamports per unit. */
function computePrice(raw: Buffer): bigint | undefined {
	const { messageBytes } = getTransactionDecoder().decode(raw);
	const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
	if (message.version !== 0) throw new Error("a transaction of another version");
	const { staticAccounts, instructions } = message;
	const data = instructions
		.filter(
			({ programAddressIndex }) => staticAccounts[programAddressIndex] === COMPUTE_BUDGET_PROGRAM_ADDRESS,
		)
		.map((instruction) => Buffer.from(instruction.data ?? []));
	return data.find(([name]) => name === 3)?.readBigUInt64LE(1);
}
