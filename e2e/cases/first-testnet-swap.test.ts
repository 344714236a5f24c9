import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { fundWallet } from "@geoswap/devnet";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { expect, test } from "vitest";
import { tokenBalance } from "../chain/token-balance.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { assetAddress } from "../wallet/make-order.ts";

const script = join(import.meta.dirname, "../../docs/go-live/first-testnet-swap.sh");

test("the script of the page Go live first runs on paper, then swaps there and back, and resumes if run again", async () => {
	const { origin, destination, baseUrl, newKey, serverEnvironment } = sharedEnvironment();
	const configFile = serverEnvironment.GEOSWAP_CONFIG ?? "";
	const deploymentFile = join(dirname(configFile), "deployment.json");
	const home = mkdtempSync(join(tmpdir(), "geoswap-first-swap-"));
	const privateKey = generatePrivateKey();
	const wallet = privateKeyToAddress(privateKey);
	const token = assetAddress(origin, "USDC");
	await fundWallet(origin, { deployment: origin.deployment, wallet, token, amount: 20_000_000n });
	const env = {
		PATH: process.env.PATH,
		NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
		PRESET_A: "none",
		PRESET_B: "none",
		CHAIN_A: String(origin.chainId),
		CHAIN_B: String(destination.chainId),
		RPC_A: origin.rpcUrl,
		RPC_B: destination.rpcUrl,
		AMOUNT: "10",
		SHADOW_SECONDS: "15",
		SHADOW_PER_HOUR: "3600",
		GEOSWAP_CONFIG: configFile,
		API_URL: baseUrl,
		DEPLOYMENT: deploymentFile,
		DEPLOYMENT_SHA256: `sha256:${createHash("sha256").update(readFileSync(deploymentFile)).digest("hex")}`,
		GEOSWAP_HOME: home,
		GEOSWAP_API_KEY: await newKey(),
		GEOSWAP_EVM_KEY: privateKey,
	};
	const run = (step: string) => promisify(execFile)("bash", [script, step], { env });
	try {
		const { stdout } = await run("all");
		expect(stdout).toContain("Nothing was signed or sent");
		expect(stdout).toMatch(/[1-9]\d* filled/);
		const held = () => tokenBalance(origin, token, wallet);
		const after = await held();
		expect(after).toBeGreaterThan(14_000_000n);
		expect(after).toBeLessThan(15_000_000n);
		await run("swap");
		expect(await held()).toBe(after);
	} finally {
		rmSync(home, { recursive: true });
	}
});
