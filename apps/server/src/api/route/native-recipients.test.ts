import { startTestChains, type TestChains } from "@geoswap/devnet";
import { type Address, concatHex, zeroAddress } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectChain } from "../../chain/evm/connect-chain.ts";
import { createLog } from "../../telemetry/log.ts";
import { createRecipientAccounts } from "./recipient-accounts.ts";

let chains: TestChains;
beforeAll(async () => {
	chains = await startTestChains();
});
afterAll(() => chains?.stop());

function scene(rpcUrl = chains.destination.rpcUrl) {
	const { chainId, deployment } = chains.destination;
	let calls = 0;
	const chain = connectChain({ chainId, rpcUrl, deployment, onCall: () => void calls++ });
	const { recipientOf } = createRecipientAccounts({
		solana: undefined,
		chains: new Map([[chainId, chain]]),
		nowMs: () => 1_000_000,
		log: createLog({ level: "silent", process: "test" }),
	});
	return {
		calls: () => calls,
		ask: (
			recipient: string,
			{ token = zeroAddress as string, ...topUp }: { token?: string; topUp?: bigint; topUpUsd?: string } = {},
		) =>
			recipientOf(
				{ destinationChain: chainId, outputToken: token, recipient, walletAddress: "", ...topUp },
				{ accountId: "account" },
			),
	};
}
const newAddress = (): Address => privateKeyToAddress(generatePrivateKey());

test("a recipient of the native token is read once, whether it is an account, a new one, or a contract", async () => {
	const { testClient, deployment } = chains.destination;
	const [rich, ours, other, contract] = [newAddress(), newAddress(), newAddress(), newAddress()];
	await testClient.setBalance({ address: rich, value: 1n });
	const { delegate, vault } = deployment.contracts;
	await testClient.setCode({ address: ours, bytecode: concatHex(["0xef0100", delegate]) });
	await testClient.setCode({ address: other, bytecode: concatHex(["0xef0100", vault]) });
	await testClient.setCode({ address: contract, bytecode: "0x00" });
	const { ask, calls } = scene();
	const kinds = { [rich]: "account", [ours]: "account", [other]: "contract", [contract]: "contract" };
	for (const [address, native] of Object.entries({ ...kinds, [newAddress()]: "new-account" })) {
		await expect.poll(() => ask(address)).toMatchObject({ hasAccount: true, native });
		const before = calls();
		expect(await ask(address)).toMatchObject({ native });
		expect(calls()).toBe(before);
	}
});

test("a recipient of another token is read if it gets a top-up", async () => {
	const { ask } = scene();
	const token = chains.destination.deployment.settlementToken;
	for (const topUp of [{ topUp: 1n }, { topUpUsd: "0.50" }]) {
		const recipient = newAddress();
		await expect.poll(() => ask(recipient, { token, ...topUp })).toMatchObject({ native: "new-account" });
	}
});

test("only recipients of the native token are read, and none makes a quote fail", async () => {
	const { ask, calls } = scene();
	expect(await ask(newAddress(), { token: chains.destination.deployment.settlementToken })).toBeUndefined();
	for (const text of ["", "0x", "x".repeat(10_000)]) expect(await ask(text)).toBeUndefined();
	expect(calls()).toBe(0);
	expect(await scene("http://127.0.0.1:1").ask(newAddress())).toBeUndefined();
});
