import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { formatDeployment } from "@geoswap/protocol";
import {
	createMandate,
	GeoswapError,
	type MandateJson,
	type SwapRequest,
	signDelegation,
	swap,
} from "@geoswap/sdk";
import { readMandateEpoch, revokeMandates } from "@geoswap/sdk/rescue";
import { createWalletClient, http, parseUnits, zeroAddress } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newAgent } from "../caller/new-agent.ts";
import { tokenBalance } from "../chain/token-balance.ts";
import type { Environment } from "../environment/environment.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { assetAddress } from "../wallet/make-order.ts";
import { fundEther } from "../wallet/test-wallet.ts";

const ten = parseUnits("10", 6);

const run = promisify(execFile);
const program = join(import.meta.dirname, "../../packages/cli/src/main.ts");

let environment: Environment;
let client: Environment["client"];
let folder: string;
beforeAll(async () => {
	environment = sharedEnvironment();
	client = await environment.newClient();
	folder = mkdtempSync(join(tmpdir(), "geoswap-mandates-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function mandateOf(account: PrivateKeyAccount, agent: PrivateKeyAccount, epoch = 0): Promise<MandateJson> {
	const { origin, destination, deployment: pins } = environment;
	return createMandate({
		account,
		pins,
		chainId: origin.chainId,
		agent: agent.address,
		inputs: [{ token: assetAddress(origin, "USDC"), maxAmount: 2n * ten }],
		periodSeconds: 86_400,
		expiresAt: new Date(Date.now() + 3_600_000),
		outputs: [{ chainId: destination.chainId, token: assetAddress(destination, "USDC") }],
		epoch,
	});
}

function swapWith(
	signer: PrivateKeyAccount,
	mandate: MandateJson,
	change: Partial<Pick<SwapRequest, "outputToken" | "minOutput" | "recipient" | "authorization">> = {},
) {
	const { origin, destination, deployment: pins } = environment;
	return swap(client, {
		originChain: origin.chainId,
		destinationChain: destination.chainId,
		inputToken: assetAddress(origin, "USDC"),
		outputToken: assetAddress(destination, "USDC"),
		amount: ten,
		signer,
		mandate,
		pins,
		...change,
	});
}

async function refusal(
	swapping: Promise<unknown>,
): Promise<{ code: string; details: unknown; next: string }> {
	const error = await swapping.then(
		() => undefined,
		(thrown: unknown) => thrown,
	);
	if (!(error instanceof GeoswapError)) throw error ?? new Error("it was not refused");
	return { code: error.code, details: error.details, next: error.next };
}

test.concurrent("an agent's key swaps from its owner's wallet within a mandate, first with the owner's authorization, and is refused beyond it", async () => {
	const { origin, destination, deployment: pins } = environment;
	const owner = await environment.newWallet({ chain: origin, token: "USDC", amount: 5n * ten });
	const agent = privateKeyToAccount(generatePrivateKey());
	const mandate = await mandateOf(owner, agent);
	expect(await refusal(swapWith(agent, mandate))).toMatchObject({ code: "NEEDS_DELEGATION" });

	const authorization = await signDelegation(client, { chainId: origin.chainId, account: owner, pins });
	if (!authorization) throw new Error("the wallet is not delegated yet");
	expect(await swapWith(agent, mandate, { authorization })).toMatchObject({ status: "settled" });
	expect(await swapWith(agent, mandate)).toMatchObject({ status: "settled" });
	expect(await tokenBalance(origin, assetAddress(origin, "USDC"), owner.address)).toBe(3n * ten);
	expect(await tokenBalance(destination, assetAddress(destination, "USDC"), owner.address)).toBeGreaterThan(
		(2n * ten * 98n) / 100n,
	);
	// The agent holds nothing, on either chain.
	expect(await tokenBalance(destination, assetAddress(destination, "USDC"), agent.address)).toBe(0n);

	expect(await refusal(swapWith(agent, mandate))).toMatchObject({ code: "MANDATE_EXCEEDED" });
	expect(await refusal(swapWith(agent, mandate, { recipient: agent.address }))).toMatchObject({
		code: "OUTSIDE_MANDATE",
		details: { reason: "recipient" },
	});
	expect(await refusal(swapWith(agent, mandate, { outputToken: zeroAddress, minOutput: 1n }))).toMatchObject({
		code: "OUTSIDE_MANDATE",
		details: { reason: "output" },
	});
	const forged = { ...mandate, inputs: mandate.inputs.map((cap) => ({ ...cap, maxAmount: "1000000000" })) };
	expect(await refusal(swapWith(agent, forged))).toMatchObject({
		code: "INVALID_MANDATE",
		details: { reason: "signature" },
		next: "renew_mandate",
	});
});

test.concurrent("the owner ends all mandates with one transaction, and a new mandate names the next epoch", async () => {
	const { origin, deployment: pins } = environment;
	const owner = await environment.newWallet({ chain: origin, token: "USDC", amount: 3n * ten });
	const agent = privateKeyToAccount(generatePrivateKey());
	const mandate = await mandateOf(owner, agent);
	const authorization = await signDelegation(client, { chainId: origin.chainId, account: owner, pins });
	if (!authorization) throw new Error("the wallet is not delegated yet");
	expect(await swapWith(agent, mandate, { authorization })).toMatchObject({ status: "settled" });

	const stranger = privateKeyToAccount(generatePrivateKey());
	await fundEther(origin, stranger.address);
	const payer = createWalletClient({
		account: stranger,
		chain: origin.chain,
		transport: http(origin.rpcUrl),
	});
	const { epoch } = await revokeMandates(origin.publicClient, {
		wallet: owner,
		payer,
		chainId: origin.chainId,
	});
	expect(epoch).toBe(1);
	expect(await refusal(swapWith(agent, mandate))).toMatchObject({
		code: "MANDATE_ENDED",
		details: { reason: "revoked" },
		next: "renew_mandate",
	});
	const renewed = await mandateOf(owner, agent, await readMandateEpoch(origin.publicClient, owner.address));
	expect(await swapWith(agent, renewed)).toMatchObject({ status: "settled" });
});

test.concurrent("with the command alone, an owner signs a mandate, an agent swaps within it, and the owner revokes it", async () => {
	const { origin, destination, baseUrl, deployment } = environment;
	const deploymentFile = join(folder, "deployment.json");
	writeFileSync(deploymentFile, formatDeployment(deployment));
	const [owner, payerKey, agentKey] = [
		await newAgent(environment, { folder, deploymentFile }),
		generatePrivateKey(),
		generatePrivateKey(),
	];
	await fundEther(origin, privateKeyToAccount(payerKey).address);
	const file = join(folder, "agent.mandate.json");
	const geoswap = async (env: NodeJS.ProcessEnv, ...args: string[]) => {
		const answer = await run("node", [program, ...args, "--json"], { env }).catch(
			(error: { stdout: string }) => error,
		);
		return JSON.parse(answer.stdout);
	};
	const chain = String(origin.chainId);
	const terms = ["--from", `${chain}:USDC`, "--to", `${destination.chainId}:USDC`, "--amount", "10"];
	const sha256 = `sha256:${createHash("sha256").update(formatDeployment(deployment)).digest("hex")}`;
	const init = ["init", "--base-url", baseUrl, "--deployment", deploymentFile, "--deployment-sha256", sha256];
	await geoswap(owner.env, ...init, "--rpc", `${chain}=${origin.rpcUrl}`);
	// The first swap is the owner's, because it delegates the wallet.
	expect(await geoswap(owner.env, "swap", ...terms)).toMatchObject({ swap: { status: "settled" } });

	const agent = { ...owner.env, GEOSWAP_EVM_KEY: agentKey };
	const { address } = privateKeyToAccount(agentKey);
	const limits = ["--cap", "20:USDC", "--period", "1d", "--expires", "1d", "--out", file];
	const created = await geoswap(
		owner.env,
		"mandate",
		"create",
		"--chain",
		chain,
		"--agent",
		address,
		...limits,
	);
	expect(created.mandate).toMatchObject({ wallet: owner.evmAddress, agent: address, epoch: 0 });
	expect(await geoswap(agent, "swap", ...terms, "--mandate", file)).toMatchObject({
		swap: { status: "settled" },
	});

	const payer = { ...owner.env, GEOSWAP_PAYER_KEY: payerKey };
	expect(await geoswap(payer, "mandate", "revoke", chain)).toMatchObject({ epoch: 1 });
	expect((await geoswap(owner.env, "mandate", "show", file)).problems).toEqual([
		"it was revoked, because the wallet's epoch is 1",
	]);
	expect(await geoswap(agent, "swap", ...terms, "--mandate", file)).toMatchObject({
		error: { code: "MANDATE_ENDED", next: "renew_mandate", mayExecute: false },
	});
	expect(await tokenBalance(origin, assetAddress(origin, "USDC"), owner.evmAddress)).toBe(8n * ten);
});
