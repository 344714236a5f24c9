import { getBase58Decoder } from "@solana/kit";
import { pad, toBytes } from "viem";
import { afterEach, expect, test } from "vitest";
import { solanaOrderScene } from "../../../test/solana-order-scene.ts";
import { type StubSolanaRpc, startStubSolanaRpc } from "../../../test/stub-solana-rpc.ts";
import { connectSolana } from "./connect-solana.ts";
import { findMarkerTransaction } from "./find-marker-transaction.ts";

let stub: StubSolanaRpc;
afterEach(() => stub?.stop());

const orderId = pad("0x01", { size: 32 });

test.each([
	["the oldest are looked at, up to a number", { perPage: 150 }, { lists: 1, looks: 100 }],
	["the list is read up to a number of pages", { perPage: 1_000 }, { lists: 10, looks: 0 }],
])("the search among what strangers sent ends: %s", async (_, { perPage }, { lists, looks }) => {
	let count = 0;
	const signature = () => getBase58Decoder().decode(toBytes(++count, { size: 64 }));
	stub = await startStubSolanaRpc(({ method }) =>
		method === "getSignaturesForAddress"
			? { result: Array.from({ length: perPage }, () => ({ signature: signature(), err: null, slot: 1 })) }
			: { result: null },
	);
	const { deployment } = await solanaOrderScene();
	const chain = connectSolana({ rpcUrl: stub.rpcUrl, deployment });
	const base = chain.deployment.vault;
	expect(await findMarkerTransaction(chain, { base, orderId })).toBeUndefined();
	const calls = (name: string) => stub.calls.filter(({ method }) => method === name);
	expect(calls("getSignaturesForAddress")).toHaveLength(lists);
	expect(calls("getTransaction")).toHaveLength(looks);
});
