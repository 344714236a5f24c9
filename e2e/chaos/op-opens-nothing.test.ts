import { waitForSwap } from "@geoswap/sdk";
import { type Hex, parseEther, parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { expect, test } from "vitest";
import { signSwap, submitSigned, swapIntent } from "../caller/do-swap.ts";
import { escrowState } from "../chain/escrow-state.ts";
import { tokenBalance } from "../chain/token-balance.ts";
import { connectDatabase, type DatabaseConnection } from "../environment/connect-database.ts";
import { expectBooksExact } from "../expect/expect-books-exact.ts";
import { ownEnvironment } from "../own-environment.ts";
import { signUrgentTransfer } from "../trouble/sign-urgent-transfer.ts";
import { assetAddress } from "../wallet/make-order.ts";
import { sendTransaction, signDelegation } from "../wallet/send-bundle.ts";

const patience = { timeout: 30_000, interval: 50 };

const environmentOf = ownEnvironment({
	// The shortest time with which an op can still be submitted, because until it expires its failure is not certain.
	configure: ({ chains, ...config }) => ({
		...config,
		chains: Object.fromEntries(
			Object.entries(chains).map(([chainId, chain]) => [chainId, { ...chain, openSeconds: 61 }]),
		),
	}),
});

test("an op that is mined and opens nothing is not a deposit, so nothing is delivered, and the swap fails", async () => {
	const { origin, destination, deployment: pins, client, databaseUrl, newWallet } = environmentOf();
	const amount = parseUnits("100", 6);
	const token = assetAddress(origin, "USDC");
	const [account, stranger, database] = await Promise.all([
		newWallet({ chain: origin, token: "USDC", amount, ethWei: parseEther("1") }),
		newWallet({ chain: origin, token: "ETH", amount: parseEther("1") }),
		connectDatabase(databaseUrl),
	]);
	const authorizationList = [await signDelegation(origin, account)];
	await sendTransaction({ chain: origin, account: stranger, to: account.address, authorizationList });
	const caller = { client, pins, account };
	const intent = swapIntent({
		from: { chain: origin, token: "USDC", amount },
		to: { chain: destination, token: "USDC" },
		account,
	});
	const signed = await signSwap(caller, intent);
	const elsewhere = privateKeyToAddress(generatePrivateKey());

	await origin.testClient.setIntervalMining({ interval: 0 });
	const { swapId } = await submitSigned(caller, signed);
	await expect.poll(async () => (await bundles(database)).length, patience).toBe(1);
	const [{ hash } = { hash: "0x" as Hex }] = await bundles(database);
	await expect
		.poll(() => origin.publicClient.getTransaction({ hash }).catch(() => undefined), patience)
		.toBeDefined();
	// While the bundle waits for its block, a transaction that pays more gets in before it.
	await origin.publicClient.sendRawTransaction({
		serializedTransaction: await signUrgentTransfer(origin, account, { token, to: elsewhere, amount }),
	});
	await origin.testClient.setIntervalMining({ interval: 1 });

	const swap = await waitForSwap(client, swapId);
	expect(await origin.publicClient.getTransactionReceipt({ hash })).toMatchObject({ status: "success" });
	expect(swap).toMatchObject({ status: "failed", failure: { code: "NOT_OPENED" } });
	expect(swap).not.toHaveProperty("originTxHash");
	expect(await escrowState(origin, swap.orderId)).toBe("None");
	expect(await tokenBalance(origin, token, elsewhere)).toBe(amount);
	expect(await tokenBalance(destination, assetAddress(destination, "USDC"), account.address)).toBe(0n);
	// The hopeless op was not retried.
	expect(await bundles(database)).toHaveLength(1);
	await database.end();
	await expectBooksExact(environmentOf(), { withinMs: 60_000 });
});

function bundles(database: DatabaseConnection): Promise<{ hash: Hex }[]> {
	return database.query("select '0x' || encode(hash, 'hex') as hash from lane_transactions");
}
