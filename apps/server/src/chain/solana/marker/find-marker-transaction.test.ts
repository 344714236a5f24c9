import { SwapError } from "@geoswap/protocol";
import { getBase58Decoder } from "@solana/kit";
import { type Hex, pad, toBytes, toHex } from "viem";
import { afterEach, expect, test } from "vitest";
import { solanaOrderScene } from "../../../../test/order/solana-order-scene.ts";
import { type StubSolanaRpc, startStubSolanaRpc } from "../../../../test/solana/stub-solana-rpc.ts";
import { connectSolana } from "../connect-solana.ts";
import { looksPerSearch } from "./find-listed-transaction.ts";
import { findMarkerTransaction } from "./find-marker-transaction.ts";

let stub: StubSolanaRpc;
afterEach(() => stub?.stop());

const orderId = pad("0x01", { size: 32 });

test("a search reads one page of strangers' transactions, skips undecodable ones, and returns where to continue", async () => {
	const listed = Array.from({ length: 2 * looksPerSearch + 1 }, (_, i) =>
		getBase58Decoder().decode(toBytes(i + 1, { size: 64 })),
	);
	stub = await startStubSolanaRpc(({ method, params }) => {
		// The stub returns a transaction only in part.
		if (method !== "getSignaturesForAddress")
			return { result: { slot: 1, meta: null, transaction: ["", "base64"] } };
		const { before, limit } = params[1] as { before?: string; limit: number };
		const from = before ? listed.indexOf(before) + 1 : 0;
		const page = listed.slice(from, from + limit);
		return { result: page.map((signature) => ({ signature, err: null, slot: 1 })) };
	});
	const { deployment } = await solanaOrderScene();
	const chain = connectSolana({ rpcUrl: stub.rpcUrl, deployment });
	const search = (before: Hex | undefined) =>
		findMarkerTransaction(chain, { base: chain.deployment.vault, orderId, journalled: [], before });
	const count = (name: string) => stub.calls.filter(({ method }) => method === name).length;
	const hashOf = (index: number) => toHex(index + 1, { size: 64 });

	const first = await search(undefined);
	expect(first).toEqual({ before: hashOf(looksPerSearch - 1) });
	expect(count("getSignaturesForAddress")).toBe(1);
	expect(count("getTransaction")).toBe(looksPerSearch);
	expect(await search(hashOf(looksPerSearch - 1))).toEqual({ before: hashOf(2 * looksPerSearch - 1) });
	const last = hashOf(2 * looksPerSearch);
	expect(await search(hashOf(2 * looksPerSearch - 1))).toEqual({ before: last });
	// The list ends there: the next search begins anew.
	expect(await search(last)).toEqual({ before: undefined });
	expect(count("getTransaction")).toBe(listed.length);
});

test("a transaction of an unknown version does not end the search", async () => {
	const listed = getBase58Decoder().decode(toBytes(1, { size: 64 }));
	const message = "Transaction version (9) is not supported by the requesting client.";
	stub = await startStubSolanaRpc(({ method }) =>
		method === "getSignaturesForAddress"
			? { result: [{ signature: listed, err: null, slot: 1 }] }
			: { error: { code: -32_015, message } },
	);
	const { deployment } = await solanaOrderScene();
	const chain = connectSolana({ rpcUrl: stub.rpcUrl, deployment });
	const asked = { base: chain.deployment.vault, orderId, journalled: [], before: undefined };
	expect(await findMarkerTransaction(chain, asked)).toEqual({ before: toHex(1, { size: 64 }) });
});

test("a transaction that the node does not return does not end the search, and is looked at again", async () => {
	const listed = getBase58Decoder().decode(toBytes(1, { size: 64 }));
	stub = await startStubSolanaRpc(({ method, params }) => {
		if (method !== "getSignaturesForAddress") return { status: 413 };
		const { before } = params[1] as { before?: string };
		return { result: before ? [] : [{ signature: listed, err: null, slot: 1 }] };
	});
	const { deployment } = await solanaOrderScene();
	const chain = connectSolana({ rpcUrl: stub.rpcUrl, deployment });
	const search = (before: Hex | undefined) =>
		findMarkerTransaction(chain, { base: chain.deployment.vault, orderId, journalled: [], before });
	expect(await search(undefined)).toEqual({ before: toHex(1, { size: 64 }) });
	expect(await search(toHex(1, { size: 64 }))).toEqual({ before: undefined });
});

test("a search fails if the node lists nothing, however little is requested", async () => {
	stub = await startStubSolanaRpc(() => ({ status: 500 }));
	const { deployment } = await solanaOrderScene();
	const chain = connectSolana({ rpcUrl: stub.rpcUrl, deployment });
	const asked = { base: chain.deployment.vault, orderId, journalled: [], before: undefined };
	await expect(findMarkerTransaction(chain, asked)).rejects.toThrow(SwapError);
	const limits = stub.calls.map(({ params }) => (params[1] as { limit: number }).limit);
	// The transport repeats each call once.
	expect(limits).toEqual([50, 50, 5, 5, 1, 1]);
});
