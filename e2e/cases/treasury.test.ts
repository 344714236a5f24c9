import { serverCommand } from "@geoswap/devnet";
import { geoVaultAbi } from "@geoswap/protocol";
import { encodeFunctionData, type Hex, parseUnits } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { expect, test } from "vitest";
import { callAs } from "../bad-days/call-as.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { fundWallets } from "../wallet/fund-wallets.ts";
import { assetAddress } from "../wallet/make-order.ts";

const patience = { timeout: 120_000, interval: 1_000 };
const whoAndWhy = ["--by", "ada", "--reason", "a test"];

type Declared = { id: string; sendTo?: string; call?: { target: string; data: Hex } };

test("what an operator declares is booked when it arrives, and a declared withdrawal is no breach", async () => {
	const { origin, keys, serverEnvironment } = sharedEnvironment();
	const chain = ["--chain", String(origin.chainId)];
	const run = async <T>(...args: string[]): Promise<T> =>
		JSON.parse(await serverCommand(serverEnvironment, ["treasury", ...args, "--json"])) as T;
	const stateOf = async (id: string) => (await run<{ state: string; received?: string }>("show", id)).state;
	const vault = origin.deployment.contracts.vault;
	const usdc = assetAddress(origin, "USDC");

	// An amount that no other test sends.
	const amount = "1234.567891";
	const deposit = await run<Declared>(
		"deposit",
		...chain,
		"--token",
		"USDC",
		"--amount",
		amount,
		...whoAndWhy,
	);
	expect(deposit.sendTo).toBe(vault);
	expect(await stateOf(deposit.id)).toBe("queued");
	await fundWallets(origin, [{ wallet: vault, token: usdc, amount: parseUnits(amount, 6) }]);
	await expect.poll(() => stateOf(deposit.id), patience).toBe("final");

	const to = privateKeyToAddress(keys.treasury);
	const withdrawal = await run<Declared>(
		...["withdraw", ...chain, "--token", "USDC", "--amount", amount, "--to", to, ...whoAndWhy],
	);
	expect(withdrawal.call).toMatchObject({
		target: vault,
		data: encodeFunctionData({
			abi: geoVaultAbi,
			functionName: "withdraw",
			args: [usdc, to, parseUnits(amount, 6)],
		}),
	});
	await callAs(origin, keys.treasury, { to: vault, data: withdrawal.call?.data as Hex });
	await expect.poll(() => stateOf(withdrawal.id), patience).toBe("final");
	const report = JSON.parse(await serverCommand(serverEnvironment, ["reconcile", "--json"]));
	expect(report).toMatchObject({ ok: true, breaches: [] });
	expect(report.checked.T1).toBeGreaterThan(0);
});
