import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { formatDeployment } from "@geoswap/protocol";
import { type Hex, parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { allowAuthorizations, authorizationDomain } from "../caller/allow-authorizations.ts";
import { newAgent as newAgentOf } from "../caller/new-agent.ts";
import { startSeller } from "../caller/x402-seller.ts";
import { tokenBalance } from "../chain/token-balance.ts";
import type { Environment } from "../environment/environment.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { assetAddress } from "../wallet/make-order.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

let environment: Environment;
let folder: string;
let deploymentFile: string;
beforeAll(() => {
	environment = sharedEnvironment();
	folder = mkdtempSync(join(tmpdir(), "geoswap-agents-"));
	deploymentFile = join(folder, "deployment.json");
	writeFileSync(deploymentFile, formatDeployment(environment.deployment));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const newAgent = () => newAgentOf(environment, { folder, deploymentFile });
const usdcOf = (chain: Environment["origin"], owner: Hex) =>
	tokenBalance(chain, assetAddress(chain, "USDC"), owner);

test("an agent of the AI SDK swaps once with its approval, regardless of how often its conversation is replayed", async () => {
	const { env, evmAddress } = await newAgent();
	const program = ["examples/ai-agent.ts", "june", join(folder, "ai")];
	const { stdout } = await run("node", program, { cwd: root, env });
	expect(stdout).toMatch(/^settled 0x/);
	expect((await run("node", program, { cwd: root, env })).stdout).toBe(stdout);
	expect(await usdcOf(environment.origin, evmAddress)).toBe(parseUnits("90", 6));
	expect(await usdcOf(environment.destination, evmAddress)).toBeGreaterThan(parseUnits("9.8", 6));
});

test("the Python example verifies the service's build, signs it, and its first swap and a later one settle", async () => {
	const { env, evmAddress } = await newAgent();
	const python = { ...env, PYTHONPATH: join(root, "e2e/caller/python"), PYTHONDONTWRITEBYTECODE: "1" };
	for (const left of ["90", "80"]) {
		const { stdout } = await run("/usr/bin/python3", ["examples/python/swap.py"], { cwd: root, env: python });
		expect(stdout).toMatch(/^settled 0x/);
		expect(await usdcOf(environment.origin, evmAddress)).toBe(parseUnits(left, 6));
	}
});

test("an agent without a token on the seller's chain swaps, pays the 402, and gets the goods", async () => {
	const { destination } = environment;
	const asset = assetAddress(destination, "USDC");
	const ofSeller = { chain: destination, token: "USDC", amount: 1n, ethWei: parseUnits("1", 18) };
	const [{ env, evmAddress }, account] = await Promise.all([newAgent(), environment.newWallet(ofSeller)]);
	await allowAuthorizations(destination, { token: asset, deployer: account });
	const payTo = privateKeyToAddress(generatePrivateKey());
	const price = parseUnits("2", 6);
	const seller = await startSeller({
		chain: destination,
		account,
		payTo,
		price: { asset, amount: String(price), extra: authorizationDomain },
		text: "the report",
	});
	onTestFinished(seller.close);
	expect(await usdcOf(destination, evmAddress)).toBe(0n);
	expect((await fetch(seller.url)).status).toBe(402);

	const buy = (purchase: string) =>
		run("node", ["examples/pay-x402.ts", seller.url, purchase, join(folder, "x402")], {
			cwd: root,
			env: { ...env, PAYMENT_RPC_URL: destination.rpcUrl },
		});
	const { stdout } = await buy("report-1");
	expect(stdout).toMatch(/^the report\npaid 0x[0-9a-f]{64}\n$/);
	const hash = (/0x\w+/.exec(stdout)?.[0] ?? "0x") as Hex;
	expect(await destination.publicClient.getTransactionReceipt({ hash })).toMatchObject({ status: "success" });
	expect(await usdcOf(destination, payTo)).toBe(price);
	const given = parseUnits("100", 6) - (await usdcOf(environment.origin, evmAddress));
	expect(given).toBeGreaterThan(price);
	expect(given).toBeLessThan(parseUnits("3", 6));

	// The next purchase also uses the tokens that the first one left over.
	const left = await usdcOf(destination, evmAddress);
	await buy("report-2");
	expect(await usdcOf(destination, payTo)).toBe(2n * price);
	const again = parseUnits("100", 6) - given - (await usdcOf(environment.origin, evmAddress));
	expect(again).toBeGreaterThan(price - left);
	expect(again).toBeLessThan(given);
});
