import { revocationTypedData } from "@geoswap/protocol";
import {
	buildOp,
	getDelegation,
	getQuote,
	getStatus,
	removeDelegation,
	submitOp,
	swap,
	verifyAndSign,
	waitForSwap,
} from "@geoswap/sdk";
import { type Address, erc20Abi, parseUnits, zeroAddress } from "viem";
import { beforeAll, test } from "vitest";
import { callApi } from "../caller/call-api.ts";
import { doSwap, signSwap, submitSigned, swapIntent } from "../caller/do-swap.ts";
import { tokenBalance } from "../chain/token-balance.ts";
import type { Environment } from "../environment/environment.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { assetAddress } from "../wallet/make-order.ts";
import { signAuthorization } from "../wallet/sign-authorization.ts";

const hundred = parseUnits("100", 6);

let environment: Environment;
let client: Environment["client"];

beforeAll(async () => {
	environment = sharedEnvironment();
	client = await environment.newClient();
});

test.concurrent("a first swap needs no wei, delivers at least the minimum and delegates the wallet; the second needs no authorization [I1-2, I1-12, I4-34, I4-36, I4-37, D-delegation-2, D-delegation-3, D-delegation-4, D-quote-response-14, D-status-14]", async ({
	expect,
}) => {
	const { origin, destination, deployment: pins } = environment;
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount: 2n * hundred });
	const wallet = account.address;
	const output = assetAddress(destination, "USDC");
	const intent = swapIntent({
		from: { chain: origin, token: "USDC", amount: hundred },
		to: { chain: destination, token: "USDC" },
		account,
	});
	expect(await origin.publicClient.getBalance({ address: wallet })).toBe(0n);
	expect(await getDelegation(client, { chainId: origin.chainId, walletAddress: wallet })).toEqual({
		chainId: origin.chainId,
		walletAddress: wallet,
		delegated: false,
		originReady: false,
		delegationTarget: origin.deployment.contracts.delegate,
		typedDelegationTarget: origin.deployment.contracts.typedDelegate,
		accountNonce: 0,
		mandateEpoch: 0,
	});

	const first = await doSwap({ client, pins, account }, intent);
	expect(first.swap).toMatchObject({ status: "settled", swapId: first.signed.quote.swapId });
	const delivered = await tokenBalance(destination, output, wallet);
	expect(first.swap.funds).toEqual({
		chainId: destination.chainId,
		holder: "recipient",
		token: output,
		amount: delivered,
	});
	// From inventory, the output is the quoted one or that of the price at submit, whichever is less.
	expect(delivered).toBeGreaterThanOrEqual(first.signed.quote.minOutput);
	expect(delivered).toBeLessThanOrEqual(first.signed.quote.output);

	const { delegate } = origin.deployment.contracts;
	expect(await getDelegation(client, { chainId: origin.chainId, walletAddress: wallet })).toEqual({
		chainId: origin.chainId,
		walletAddress: wallet,
		delegated: true,
		originReady: true,
		delegatedTo: delegate,
		accepts: ["personal", "typed"],
		accountNonce: 1,
		mandateEpoch: 0,
		mandateEscrow: origin.deployment.contracts.escrow,
	});
	expect(await origin.publicClient.getCode({ address: wallet })).toBe(
		`0xef0100${delegate.slice(2).toLowerCase()}`,
	);

	const quote = await getQuote(client, intent);
	const build = await buildOp(client, { geoQuoteToken: quote.geoQuoteToken });
	const signature = await verifyAndSign({ intent, quote, build, pins, account });
	const { swapId } = await submitOp(client, { geoOpToken: build.geoOpToken, signature });
	const second = await waitForSwap(client, swapId);
	expect(second.status).toBe("settled");
	expect(await tokenBalance(destination, output, wallet)).toBe(delivered + second.funds.amount);
	expect(await remains(environment, wallet)).toEqual({ input: 0n, allowance: 0n, wei: 0n });
});

test.concurrent("a first swap of a wallet that holds too little signs nothing and names the balance [D-delegation-9]", async ({
	expect,
}) => {
	const { origin, destination, deployment: pins } = environment;
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount: hundred - 1n });
	const sign = () => Promise.reject(new Error("Nothing is to be signed."));
	const signer = {
		address: account.address,
		signTypedData: sign,
		signMessage: sign,
		signAuthorization: sign,
	};
	const { inputToken, outputToken } = swapIntent({
		from: { chain: origin, token: "USDC", amount: hundred },
		to: { chain: destination, token: "USDC" },
		account,
	});
	await expect(
		swap(client, {
			inputToken,
			outputToken,
			originChain: origin.chainId,
			destinationChain: destination.chainId,
			amount: hundred,
			pins,
			signer,
		}),
	).rejects.toMatchObject({
		code: "INSUFFICIENT_BALANCE",
		mayExecute: false,
		details: { balance: String(hundred - 1n), required: String(hundred) },
	});
});

test.concurrent("a delegation and all mandates are removed without a wei, but not during a swap, and the next swap delegates again", async ({
	expect,
}) => {
	const { origin, destination, deployment: pins } = environment;
	const { chainId } = origin;
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount: 2n * hundred });
	const caller = { client, pins, account };
	const intent = swapIntent({
		from: { chain: origin, token: "USDC", amount: hundred },
		to: { chain: destination, token: "USDC" },
		account,
	});
	expect(await removeDelegation(client, { chainId, account })).toBe(false);
	const signed = await signSwap(caller, intent);
	const { swapId } = await submitSigned(caller, signed);
	// The first swap delegates the wallet some blocks before it has ended.
	await expect
		.poll(async () => (await getDelegation(client, { chainId, walletAddress: account.address })).delegated)
		.toBe(true);
	const authorization = await signAuthorization(origin, account, { address: zeroAddress, nonce: 1 });
	const { escrow } = origin.deployment.contracts;
	const revocation = await account.signTypedData(
		revocationTypedData({ chainId, escrow, wallet: account.address, epoch: 0n }),
	);
	const early = await callApi(client, "/delegation/remove", {
		body: { chainId, walletAddress: account.address, authorization, revocation },
	});
	expect(early.body).toMatchObject({ code: "WALLET_BUSY", details: { swapIds: [swapId] } });
	expect(await removeDelegation(client, { chainId, account })).toBe(true);
	expect((await getStatus(client, swapId)).status).toBe("settled");
	expect((await origin.publicClient.getCode({ address: account.address })) ?? "0x").toBe("0x");
	expect(await origin.publicClient.getBalance({ address: account.address })).toBe(0n);
	expect((await doSwap(caller, intent)).swap.status).toBe("settled");
});

test.concurrent("two concurrent first swaps of one wallet with the same authorization both settle [I8-10]", async ({
	expect,
}) => {
	const { origin, destination, deployment: pins } = environment;
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount: 2n * hundred });
	const caller = { client, pins, account };
	const intent = swapIntent({
		from: { chain: origin, token: "USDC", amount: hundred },
		to: { chain: destination, token: "USDC" },
		account,
	});
	const signed = await Promise.all([signSwap(caller, intent), signSwap(caller, intent)]);
	const submitted = await Promise.all(signed.map((swap) => submitSigned(caller, swap)));
	expect(new Set(submitted.map(({ swapId }) => swapId)).size).toBe(2);
	const swaps = await Promise.all(submitted.map(({ swapId }) => waitForSwap(client, swapId)));
	expect(swaps.map(({ status }) => status)).toEqual(["settled", "settled"]);
	expect(await tokenBalance(destination, assetAddress(destination, "USDC"), account.address)).toBe(
		swaps.reduce((sum, { funds }) => sum + BigInt(funds.amount), 0n),
	);
	expect(await remains(environment, account.address)).toEqual({ input: 0n, allowance: 0n, wei: 0n });
	expect(await origin.publicClient.getTransactionCount({ address: account.address })).toBe(1);
});

/** Returns the balance and the allowance of a wallet that swapped all its USDC. */
async function remains({ origin }: Environment, wallet: Address) {
	const token = assetAddress(origin, "USDC");
	return {
		input: await tokenBalance(origin, token, wallet),
		allowance: await origin.publicClient.readContract({
			address: token,
			abi: erc20Abi,
			functionName: "allowance",
			args: [wallet, origin.deployment.contracts.escrow],
		}),
		wei: await origin.publicClient.getBalance({ address: wallet }),
	};
}
