import { devTokenAbi, serverCommand, type TestChain } from "@geoswap/devnet";
import { getChains } from "@geoswap/sdk";
import { type Address, encodeFunctionData, type Hex, parseEther, parseUnits } from "viem";
import { expect, test } from "vitest";
import { callApi } from "../caller/call-api.ts";
import { doSwap, swapIntent } from "../caller/do-swap.ts";
import { expectRefusal } from "../expect/expect-refusal.ts";
import { ownEnvironment } from "../own-environment.ts";
import { assetAddress } from "../wallet/make-order.ts";

const patience = { timeout: 120_000, interval: 300 };
const amount = parseUnits("50", 6);
const thief: Address = "0x000000000000000000000000000000000000dEaD";

const environmentOf = ownEnvironment({
	configure: (config) => ({ ...config, audit: { ...config.audit, everySeconds: 2, confirmSeconds: 1 } }),
});

/** Moves tokens by impersonation, as no key can, so that the service cannot foresee it. */
async function move(chain: TestChain, { from, to }: { from: Address; to: Address }): Promise<void> {
	const { testClient, publicClient } = chain;
	await testClient.impersonateAccount({ address: from });
	const held = await publicClient.getBalance({ address: from });
	await testClient.setBalance({ address: from, value: held + parseEther("1") });
	const data = encodeFunctionData({ abi: devTokenAbi, functionName: "transfer", args: [to, 1_000n] });
	const hash = await testClient.request<{
		Method: "eth_sendTransaction";
		Parameters: [{ from: Address; to: Address; data: Hex }];
		ReturnType: Hex;
	}>({
		method: "eth_sendTransaction",
		params: [{ from, to: assetAddress(chain, "USDC"), data }],
	});
	await publicClient.waitForTransactionReceipt({ hash, pollingInterval: 100 });
}

test("tokens that leave a vault without the service pause that chain only, swaps in flight settle, and an operator lifts the pause", async () => {
	const environment = environmentOf();
	const { origin, destination, client, deployment: pins, serverEnvironment, metricsUrls } = environment;
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount: 2n * amount });
	const from = { chain: origin, token: "USDC", amount };
	const across = swapIntent({ from, to: { chain: destination, token: "USDC" }, account });
	const within = swapIntent({ from, to: { chain: origin, token: "USDT" }, account });
	const quote = (intent: typeof across) => callApi(client, "/swap/quote", { body: intent });
	expect((await quote(across)).status).toBe(200);

	const swapping = doSwap({ client, pins, account }, within);
	const { vault } = destination.deployment.contracts;
	await move(destination, { from: vault, to: thief });
	await expect.poll(async () => (await quote(across)).status, patience).toBe(422);
	expectRefusal(expect, await quote(across), "NO_ROUTE", {
		reason: "paused",
		side: expect.stringMatching(/^(origin|destination)$/),
	});
	expect((await quote(within)).status).toBe(200);
	expect((await swapping).swap.status).toBe("settled");
	const { chains } = await getChains(client);
	expect(chains.find(({ chainId }) => chainId === destination.chainId)).toMatchObject({
		live: false,
		paused: expect.stringContaining("I2"),
	});
	expect(chains.find(({ chainId }) => chainId === origin.chainId)).toMatchObject({ live: true });
	const metrics = async (url: string) => (await fetch(url)).text();
	const labels = `chain="${destination.chainId}",cause="breach"`;
	expect(await metrics(metricsUrls.api)).toContain(`geoswap_chain_paused{${labels}} 1`);
	expect(await metrics(metricsUrls.audit)).toContain(
		`geoswap_audit_breaches{invariant="I2",chain="${destination.chainId}"} 1`,
	);

	const command = (...args: string[]) =>
		serverCommand(serverEnvironment, args).catch((error: unknown) => String(error));
	expect(await command("pauses", "list")).toContain("hold 1000 USDC less than in the books");
	await move(destination, { from: thief, to: vault });
	const reconciled = () => command("reconcile");
	await expect.poll(reconciled, { ...patience, interval: 2_000 }).toContain("all invariants hold");
	// A repaired chain stays paused until an operator lifts the pause.
	expect((await quote(across)).status).toBe(422);
	const chain = String(destination.chainId);
	const lifted = await command("pauses", "lift", chain, "--by", "ada", "--reason", "it is back");
	expect(lifted).toContain(`all invariants hold on chain ${chain}`);
	await expect.poll(async () => (await quote(across)).status, patience).toBe(200);
	expect(await command("pauses", "list")).toContain('by ada, "it is back"');
});
