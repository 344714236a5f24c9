import type { SolanaAddress } from "@geoswap/protocol";
import { createKeyPairSignerFromBytes } from "@solana/kit";
import { getTransferSolInstruction } from "@solana-program/system";
import { afterAll, beforeEach, expect, test } from "vitest";
import { readJob } from "../../../test/lane/lane-scene.ts";
import { markerOf } from "../../../test/lane/solana-lane-scene.ts";
import { createSolanaLanes } from "../../../test/lane/solana-lanes.ts";
import { floodAddresses } from "../../../test/solana/flood-addresses.ts";
import { limitedNodes, limitedTransport } from "../../../test/solana/limited-transport.ts";
import { connectSolana, type SolanaChain } from "../../chain/solana/connect-solana.ts";
import { looksPerSearch } from "../../chain/solana/marker/find-listed-transaction.ts";
import { readBlockhash } from "../../chain/solana/read/read-blockhash.ts";
import { toSignature } from "../../chain/solana/read/read-statuses.ts";
import { sendRaw } from "../../chain/solana/send/send-raw.ts";
import { signInstructions } from "../../chain/solana/send/sign-instructions.ts";

const lanes = await createSolanaLanes();
const { pump, slots, clear, forget, queuePayout, states, scene } = lanes;
beforeEach(() => clear());
afterAll(() => lanes.stop());

test("a job whose recipient cannot be read waits, and blocks no other job", async () => {
	const bad = await queuePayout();
	const good = await queuePayout();
	await pump({ chain: silentAbout("getMultipleAccounts", bad.recipient) });
	expect(await states([good.order], "fill")).toEqual(["sent"]);
	expect(await readJob(scene.pool, bad.swapId, "fill")).toMatchObject({ state: "queued", strikes: 0 });
});

test("a job whose marker's transactions cannot be searched waits, and blocks no other job", async () => {
	const bad = await queuePayout();
	await pump();
	await slots(3);
	await forget();
	const good = await queuePayout();
	const marker = await markerOf(scene, bad.order, "vault");
	await pump({ chain: silentAbout("getSignaturesForAddress", marker) });
	expect(await states([good.order], "fill")).toEqual(["sent"]);
	expect(await readJob(scene.pool, bad.swapId, "fill")).toMatchObject({ state: "queued", strikes: 0 });
});

test("the transaction that decided an order is found, however many transactions strangers send to its marker", async () => {
	const { order } = await queuePayout();
	const marker = await markerOf(scene, order, "vault");
	const [stranger] = await Promise.all(
		scene.solana.keys.strangers.map((key) => createKeyPairSignerFromBytes(key)),
	);
	if (!stranger) throw new Error("the devnet has no stranger");
	const flood = async (count: number) => {
		const { blockhash } = await readBlockhash(scene.chain);
		for (let i = 0; i < count; i++) {
			const amount = 1_000_000n + BigInt(i);
			const { raw } = await signInstructions({
				feePayer: stranger,
				blockhash,
				computePrice: 0n,
				unitLimit: 1_000,
				instructions: [getTransferSolInstruction({ source: stranger, destination: marker, amount })],
			});
			await sendRaw(scene.chain, raw);
		}
		await slots(3);
	};
	await flood(2 * looksPerSearch + 1);
	await pump();
	await slots(3);
	await flood(looksPerSearch + 1);

	// A restored store continues where the last search ended, in any process.
	await forget();
	await pump();
	expect(await states([order], "fill")).toEqual(["queued"]);
	await slots(20);
	await pump();
	await pump();
	expect(await states([order], "fill")).toEqual(["done"]);

	// A store that has the signature requests no list.
	await scene.pool.query("update jobs set state = 'queued'");
	await scene.pool.query("update lane_transactions set state = 'final', block_number = null");
	await slots(20);
	await pump({ chain: silentAbout("getSignaturesForAddress", marker) });
	expect(await states([order], "fill")).toEqual(["sent"]);
});

test.for(limitedNodes)(
	"the transaction that decided an order is found behind a flood if a node %s",
	async ([, limits]) => {
		const { order } = await queuePayout();
		await pump();
		await slots(3);
		const addresses = [await markerOf(scene, order, "vault")];
		const large = await floodAddresses(scene.solana, { addresses, count: 6 });
		await forget();
		const tooLarge = large.slice(0, 2).map(toSignature);
		const { transport } = limitedTransport(scene.solana, { ...limits, tooLarge });
		const chain = connectSolana({ ...scene.solana, transport });
		// Others go on meanwhile.
		const other = await queuePayout();
		for (let searches = 0; searches < 8; searches++) {
			await pump({ chain });
			await slots(20);
		}
		expect(await states([order, other.order], "fill")).toEqual(["done", "done"]);
	},
);

/** A node that fails whenever this method is called with this address as the first one. */
function silentAbout(
	method: "getMultipleAccounts" | "getSignaturesForAddress",
	address: SolanaAddress,
): SolanaChain {
	const { rpc } = scene.chain;
	const silent = new Proxy(rpc, {
		get: (_, name) => {
			const ask = Reflect.get(rpc, name) as (...args: unknown[]) => unknown;
			return (...args: unknown[]) =>
				name === method && [args[0]].flat()[0] === address
					? { send: () => Promise.reject(new Error("no answer")) }
					: ask(...args);
		},
	});
	return { ...scene.chain, rpc: silent };
}
