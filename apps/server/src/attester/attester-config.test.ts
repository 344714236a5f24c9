import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeSolana } from "@geoswap/devnet";
import { type Deployment, formatDeployment, solanaChainId } from "@geoswap/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readAttesterConfig } from "./attester-config.ts";

let folder: string;
beforeAll(() => {
	folder = mkdtempSync(join(tmpdir(), "geoswap-attester-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const solana = describeSolana({ genesisHash: "1".repeat(32) });

function read(deployment: Deployment, config: object) {
	writeFileSync(join(folder, "deployment.json"), formatDeployment(deployment));
	const path = join(folder, "attester.json");
	writeFileSync(path, JSON.stringify({ deployment: "deployment.json", chains: {}, port: 0, ...config }));
	return readAttesterConfig(path);
}

test("an attester reads Solana only if its file has an endpoint for it", () => {
	const config = read({ chains: [], solana }, { solana: { rpcUrl: "http://127.0.0.1:9" } });
	expect(config.solana).toMatchObject({ chainId: solanaChainId, deployment: solana });
	expect(read({ chains: [], solana }, {}).solana).toBeUndefined();
});

test("a chain that is not deployed is refused by name", () => {
	expect(() => read({ chains: [] }, { solana: { rpcUrl: "http://127.0.0.1:9" } })).toThrow(
		/solana: .*deployment\.json has no such chain/,
	);
	expect(() => read({ chains: [] }, { chains: { 1: { rpcUrl: "http://127.0.0.1:9" } } })).toThrow(
		/chains\.1: .* has no such chain/,
	);
});
