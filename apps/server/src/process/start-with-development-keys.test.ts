import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeSolana, solanaFeeds, startTestChains } from "@geoswap/devnet";
import { formatDeployment } from "@geoswap/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runApi } from "./run-api.ts";
import { runAttester } from "./run-attester.ts";

/** The genesis hash of the main cluster. */
const genesisHash = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";
const nowhere = { rpcUrl: "http://127.0.0.1:9" };
const folder = mkdtempSync(join(tmpdir(), "geoswap-known-keys-"));

beforeAll(async () => {
	const { deployment, stop } = await startTestChains();
	await stop();
	const [first] = deployment.chains;
	if (!first) throw new Error("no chain");
	const solana = describeSolana({ genesisHash, feeds: solanaFeeds(first) });
	writeFileSync(join(folder, "deployment.json"), formatDeployment({ ...deployment, solana }));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(file: object): string {
	const path = join(folder, "config.json");
	writeFileSync(path, JSON.stringify({ deployment: "deployment.json", ...file }));
	return path;
}

test("neither the API nor an attester starts with the devnet's keys or mints on another cluster", async () => {
	const nodes = [{ url: nowhere.rpcUrl }];
	const pace = { nodes, finalitySeconds: 5, fillSeconds: 3_600, refundSeconds: 3_600 };
	const api = write({
		chains: { 31337: pace },
		solana: pace,
		api: { port: 0 },
		worker: { port: 0 },
		restate: { ingressUrl: "http://a", adminUrl: "http://a" },
		attesters: [{ url: "http://a" }, { url: "http://b" }],
	});
	await expect(runApi(api)).rejects.toThrow("belongs to a development key, which is public");
	const attester = write({ chains: { 31337: nowhere }, solana: nowhere, port: 0 });
	await expect(runAttester(attester)).rejects.toThrow("belongs to a development key, which is public");
});
