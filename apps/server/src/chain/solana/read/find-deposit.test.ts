import { memoProgramAddress, orderId } from "@geoswap/protocol";
import { bytesToHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SolanaSubmitScene, startSolanaSubmitScene } from "../../../../test/api/solana-submit-scene.ts";
import type { SolanaChain } from "../connect-solana.ts";
import { findDeposit, newDepositSearch } from "./find-deposit.ts";

let scene: SolanaSubmitScene;
beforeAll(async () => {
	scene = await startSolanaSubmitScene();
});
afterAll(() => scene?.stop());

/** Returns a chain on which every wallet has a great many transactions with that memo, and a count of its calls. */
function crowded({ signature, memo }: { signature: string; memo: string }, blockTime: () => number | null) {
	const asked: string[] = [];
	const entry = () => ({ signature, err: null, memo: `[66] ${memo}`, blockTime: blockTime() });
	const rpc = new Proxy(scene.chain.rpc, {
		get(real, method) {
			asked.push(String(method));
			if (method !== "getSignaturesForAddress") return Reflect.get(real, method);
			return () => ({ send: async () => Array.from({ length: 1_000 }, entry) });
		},
	});
	const chain: SolanaChain = { ...scene.chain, rpc };
	return { chain, count: (method: string) => asked.filter((name) => name === method).length };
}

test("memos by strangers cost a few requests for each call and a limited number in all, and then the result is unknown rather than none", async () => {
	const wallet = await scene.newWallet();
	const { terms: order } = scene.newQuote(wallet.address);
	const memo = orderId(order);
	await scene.send(wallet, [
		{ programAddress: memoProgramAddress, data: new TextEncoder().encode(memo), accounts: [] },
	]);
	const [sent] = await scene.chain.rpc
		.getSignaturesForAddress(wallet.address, { commitment: "confirmed", limit: 1 })
		.send();
	if (!sent) throw new Error("it was sent");
	const sought = { order, signature: bytesToHex(new Uint8Array(64)) };
	expect(await findDeposit(scene.chain, sought)).toBe("none");

	const { chain, count } = crowded({ signature: sent.signature, memo }, () => null);
	const search = newDepositSearch();
	expect(await findDeposit(chain, { ...sought, search })).toBe("unfinished");
	expect(count("getSignaturesForAddress")).toBe(3);
	expect(count("getTransaction")).toBe(0);
	let found: string;
	do found = await findDeposit(chain, { ...sought, search });
	while (found === "unfinished");
	expect(found).toBe("untold");
	expect(count("getSignaturesForAddress")).toBe(102);
	expect(count("getTransaction")).toBe(5);
	expect(search.memos).toHaveLength(6);
});

test("transactions older than the quote are not searched", async () => {
	const wallet = await scene.newWallet();
	const { terms: order } = scene.newQuote(wallet.address);
	const longAgo = Math.floor(Date.now() / 1_000) - 86_400;
	const { chain, count } = crowded({ signature: "", memo: "another's" }, () => longAgo);
	expect(await findDeposit(chain, { order, signature: "0x" })).toBe("none");
	expect(count("getSignaturesForAddress")).toBe(1);
});
