import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type DressedChain, startDressedChain } from "../../../test/chain/dressed-chain.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const script = join(import.meta.dirname, "../../../../../docs/go-live/first-testnet-swap.sh");
let chains: DressedChain[];
beforeAll(async () => {
	chains = await Promise.all(["base-sepolia", "arbitrum-sepolia"].map(startDressedChain));
});
afterAll(() => Promise.all(chains.map(({ stop }) => stop())));

async function check(rpcUrls: readonly (string | undefined)[]): Promise<string> {
	const [RPC_A = "", RPC_B = ""] = rpcUrls;
	const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, RPC_A, RPC_B };
	const { stdout } = await promisify(execFile)("bash", [script, "check"], { env });
	return stdout;
}

test("the script of the page Go live accepts test chains with the ids of the two testnets, and no other chain", async () => {
	const urls = chains.map(({ rpcUrl }) => rpcUrl);
	await check(urls);
	await expect(check(urls.toReversed())).rejects.toThrow();
	await expect(check([urls[0]])).rejects.toThrow("set RPC_B");
});
