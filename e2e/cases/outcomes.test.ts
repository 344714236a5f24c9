import { fundWallet, type TestChain } from "@geoswap/devnet";
import {
	fromSwapId,
	fromWord,
	orderProof,
	orderSchema,
	orderTerms,
	unpackDeadlines,
} from "@geoswap/protocol";
import { getStatus, waitForSwap } from "@geoswap/sdk";
import { parseEther, parseUnits } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, test } from "vitest";
import { type SignedSwap, signSwap, submitSigned, swapIntent } from "../caller/do-swap.ts";
import { escrowState } from "../chain/escrow-state.ts";
import { tokenBalance } from "../chain/token-balance.ts";
import { connectDatabase, type DatabaseConnection } from "../environment/connect-database.ts";
import type { Environment } from "../environment/environment.ts";
import { expectBooksAgree } from "../expect/expect-books-agree.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { signUrgentTransfer } from "../trouble/sign-urgent-transfer.ts";
import { assetAddress } from "../wallet/make-order.ts";
import { sendBundle, sendTransaction, signDelegation } from "../wallet/send-bundle.ts";

const amount = parseUnits("100", 6);

let environment: Environment;
let client: Environment["client"];
let database: DatabaseConnection;

beforeAll(async () => {
	environment = sharedEnvironment();
	[client, database] = await Promise.all([environment.newClient(), connectDatabase(environment.databaseUrl)]);
});
afterAll(() => database.end());

test.concurrent.for([
	{ what: "whose tokens are gone", isDelegated: true, moved: amount },
	{ what: "whose nonce passed its authorization", isDelegated: false, moved: 1n },
])(
	"a swap of a wallet $what before its op is mined ends as failed once it can never open, and takes nothing [I3-5, D-status-9, D-status-17, D-status-18]",
	async ({ isDelegated, moved }, { expect }) => {
		const { origin, destination, deployment: pins } = environment;
		const token = assetAddress(origin, "USDC");
		const [account, stranger] = await Promise.all([
			environment.newWallet({ chain: origin, token: "USDC", amount, ethWei: parseEther("1") }),
			newStranger(origin),
		]);
		if (isDelegated) {
			const authorizationList = [await signDelegation(origin, account)];
			await sendTransaction({ chain: origin, account: stranger, to: account.address, authorizationList });
		}
		const intent = swapIntent({
			from: { chain: origin, token: "USDC", amount },
			to: { chain: destination, token: "USDC" },
			account,
		});
		const signed = await signSwap({ client, pins, account }, intent);
		const elsewhere = privateKeyToAddress(generatePrivateKey());
		const transfer = await signUrgentTransfer(origin, account, { token, to: elsewhere, amount: moved });

		const { swapId, status } = await submitSigned({ client, pins, account }, signed);
		await origin.publicClient.sendRawTransaction({ serializedTransaction: transfer });
		expect(status).toBe("pending");
		const { orderId, order } = signed.build.geoOp;
		const uuid = fromSwapId(swapId);
		const reservations = () => database.query("select from reservations where swap_id = $1", [uuid]);
		// The reservation is released long before it lapses, so such swaps cannot keep others from the inventory.
		await expect.poll(reservations, { timeout: 40_000, interval: 500 }).toEqual([]);
		expect(await getStatus(client, swapId, { waitSeconds: 0 })).toMatchObject({
			status: "pending",
			stage: "opening",
			funds: { chainId: origin.chainId, holder: "wallet", token, amount },
		});

		const swap = await waitForSwap(client, swapId);
		const { timestamp } = await origin.publicClient.getBlock({ blockTag: "finalized" });
		expect(timestamp).toBeGreaterThan(unpackDeadlines(orderSchema.parse(order).deadlines).openDeadline);
		expect(swap).toMatchObject({ status: "failed", orderId, failure: { code: "NOT_OPENED" } });
		for (const hash of ["originTxHash", "deliveryTxHash", "refundTxHash"]) {
			expect(swap).not.toHaveProperty(hash);
		}
		expect(await escrowState(origin, orderId)).toBe("None");
		expect(await tokenBalance(origin, token, account.address)).toBe(amount - moved);
		expect(await tokenBalance(destination, assetAddress(destination, "USDC"), account.address)).toBe(0n);

		// No holder of the signature can take anything later either, because the op is dead, funded or not.
		await fundWallet(origin, {
			deployment: origin.deployment,
			wallet: account.address,
			token,
			amount: moved,
		});
		const authorizations = isDelegated ? [] : [await signDelegation(origin, account)];
		await sendOp(origin, { signed, stranger, authorizations }).catch(() => undefined);
		expect(await tokenBalance(origin, token, account.address)).toBe(amount);
		expect(await escrowState(origin, orderId)).toBe("None");
	},
);

test.concurrent("a swap whose op a third party sent before the submit continues from that state and settles", async ({
	expect,
}) => {
	const { origin, destination, deployment: pins } = environment;
	const [account, stranger] = await Promise.all([
		environment.newWallet({ chain: origin, token: "USDC", amount }),
		newStranger(origin),
	]);
	const caller = { client, pins, account };
	const intent = swapIntent({
		from: { chain: origin, token: "USDC", amount },
		to: { chain: destination, token: "USDC" },
		account,
	});
	const signed = await signSwap(caller, intent);
	const authorizations = [await signDelegation(origin, account)];
	const { transactionHash } = await sendOp(origin, { signed, stranger, authorizations });
	expect(await escrowState(origin, signed.build.geoOp.orderId)).toBe("Opened");

	const { swapId } = await submitSigned(caller, signed);
	const swap = await waitForSwap(client, swapId);
	expect(swap).toMatchObject({ status: "settled", originTxHash: transactionHash });
	expect(await tokenBalance(origin, assetAddress(origin, "USDC"), account.address)).toBe(0n);
	const delivered = await tokenBalance(destination, assetAddress(destination, "USDC"), account.address);
	expect(delivered).toBe(swap.funds.amount);
	expect(delivered).toBeGreaterThanOrEqual(signed.quote.minOutput);
});

test.concurrent("an op that a third party sends at the same time as the service opens once, and the swap settles", async ({
	expect,
}) => {
	const { origin, destination, deployment: pins } = environment;
	const [account, stranger] = await Promise.all([
		environment.newWallet({ chain: origin, token: "USDC", amount: 2n * amount }),
		newStranger(origin),
	]);
	const caller = { client, pins, account };
	const intent = swapIntent({
		from: { chain: origin, token: "USDC", amount },
		to: { chain: destination, token: "USDC" },
		account,
	});
	const signed = await signSwap(caller, intent);
	const authorizations = [await signDelegation(origin, account)];
	const [{ swapId }] = await Promise.all([
		submitSigned(caller, signed),
		// The escrow refuses whichever of the two is second.
		sendOp(origin, { signed, stranger, authorizations }).catch(() => undefined),
	]);
	const swap = await waitForSwap(client, swapId);
	expect(swap.status).toBe("settled");
	expect(await tokenBalance(origin, assetAddress(origin, "USDC"), account.address)).toBe(amount);
	expect(await tokenBalance(destination, assetAddress(destination, "USDC"), account.address)).toBe(
		swap.funds.amount,
	);
});

test("after all these swaps the books match the chains to the unit", async ({ expect }) => {
	await expectBooksAgree(expect, environment);
});

/** Creates an account with gas, whose nonces are used by its caller only. */
function newStranger(chain: TestChain): Promise<PrivateKeyAccount> {
	return environment.newWallet({ chain, token: "ETH", amount: parseEther("1") });
}

function sendOp(
	chain: TestChain,
	{
		signed: { build, signature },
		stranger,
		authorizations,
	}: {
		signed: SignedSwap;
		stranger: PrivateKeyAccount;
		authorizations: Awaited<ReturnType<typeof signDelegation>>[];
	},
) {
	const order = orderSchema.parse(build.geoOp.order);
	const opening = {
		wallet: fromWord(order.wallet),
		gas: 300_000n,
		terms: orderTerms(order),
		proof: orderProof({ kind: "typed", signature }),
	};
	return sendBundle({ chain, relayer: stranger, openings: [opening], authorizations });
}
