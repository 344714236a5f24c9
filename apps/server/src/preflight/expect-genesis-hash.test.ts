import { startTestSolana, type TestSolana } from "@geoswap/devnet";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectSolana } from "../chain/solana/connect-solana.ts";
import type { SolanaChainConfig } from "../config/chain-config.ts";
import { expectGenesisHash } from "./expect-genesis-hash.ts";
import { refuseOtherChains } from "./refuse-other-chains.ts";

let solana: TestSolana;
beforeAll(async () => {
	solana = await startTestSolana();
});
afterAll(() => solana.stop());

test("an endpoint of another cluster, or one that does not respond, is refused without showing its key", async () => {
	const { deployment, rpcUrl } = solana;
	await expectGenesisHash(connectSolana({ rpcUrl, deployment }));
	const other = { ...deployment, genesisHash: "1".repeat(32) };
	await expect(
		expectGenesisHash(connectSolana({ rpcUrl: `${rpcUrl}/?key=a-key`, deployment: other })),
	).rejects.toMatchObject({
		name: "ConfigError",
		message: `solana.nodes: is another cluster, because its genesis hash is ${deployment.genesisHash}, but the deployment has ${other.genesisHash}`,
	});
	const dead = connectSolana({ rpcUrl: "http://user:password@127.0.0.1:9/a-key", deployment });
	await expect(expectGenesisHash(dead, { patienceMs: 0 })).rejects.toMatchObject({
		name: "ConfigError",
		message: "solana.nodes: does not answer",
	});
});

test("the one of several nodes that belongs to another cluster is refused by its position, and one that does not respond is not refused", async () => {
	const { deployment, rpcUrl } = solana;
	const refuse = (genesisHash: string) =>
		refuseOtherChains({
			kind: "solana",
			nodes: [{ url: "http://127.0.0.1:9/a-key" }, { url: `${rpcUrl}/?key=a-key` }],
			deployment: { ...deployment, genesisHash },
		} as unknown as SolanaChainConfig);
	await refuse(deployment.genesisHash);
	await expect(refuse("1".repeat(32))).rejects.toMatchObject({
		name: "ConfigError",
		message: `solana.nodes.1: ${rpcUrl} is another cluster, because its genesis hash is ${deployment.genesisHash}`,
	});
});
