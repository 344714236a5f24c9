import { setTimeout as sleep } from "node:timers/promises";
import type { TestChain } from "@geoswap/devnet";
import { type Order, orderUserOp, type UserOpGas } from "@geoswap/protocol";
import {
	type Account,
	type Address,
	createWalletClient,
	encodeFunctionData,
	type Hash,
	type Hex,
	http,
	type LocalAccount,
	type SignedAuthorization,
	type TransactionReceipt,
	TransactionReceiptNotFoundError,
} from "viem";
import { entryPoint09Abi, entryPoint09Address, type PackedUserOperation } from "viem/account-abstraction";

const opGas: UserOpGas = { verificationGasLimit: 60_000n, callGasLimit: 250_000n };

/** Returns the op that opens an order, signed as wallets sign it: `personal_sign` over the hash's 32 bytes. */
export async function signOrderOp({
	chain,
	order,
	wallet,
	allowance = 0n,
}: {
	chain: TestChain;
	order: Order;
	wallet: LocalAccount;
	allowance?: bigint;
}): Promise<PackedUserOperation> {
	const { hash, userOp } = orderUserOp({
		order,
		delegate: chain.deployment.contracts.delegate,
		allowance,
		gas: opGas,
	});
	return { ...userOp, signature: await wallet.signMessage({ message: { raw: hash } }) };
}

/** Signs the wallet's authorization of our delegate on this chain, at its current nonce. */
export async function signDelegation(
	chain: TestChain,
	wallet: LocalAccount,
	delegate: Address = chain.deployment.contracts.delegate,
): Promise<SignedAuthorization> {
	if (wallet.signAuthorization === undefined) throw new Error("a local account signs authorizations");
	return wallet.signAuthorization({
		address: delegate,
		chainId: chain.chainId,
		nonce: await chain.publicClient.getTransactionCount({ address: wallet.address }),
	}) as Promise<SignedAuthorization>;
}

/** Sends ops in one `handleOps`, as type 4 if there is an authorization, and waits for its receipt. */
export async function sendBundle({
	chain,
	relayer,
	userOps,
	authorizations = [],
	entryPoint = entryPoint09Address,
}: {
	chain: TestChain;
	relayer: LocalAccount;
	userOps: PackedUserOperation[];
	authorizations?: SignedAuthorization[];
	entryPoint?: Address;
}): Promise<TransactionReceipt> {
	const data = encodeFunctionData({
		abi: entryPoint09Abi,
		functionName: "handleOps",
		args: [userOps, relayer.address],
	});
	// The call shows the EntryPoint's own error, while a receipt would only say "reverted".
	const list = authorizations.length > 0 ? { authorizationList: authorizations } : {};
	await chain.publicClient.call({ account: relayer, to: entryPoint, data, ...list });
	return sendTransaction({ chain, account: relayer, to: entryPoint, data, ...list });
}

/** Sends one transaction and waits for its receipt. */
export async function sendTransaction({
	chain,
	account,
	...transaction
}: {
	chain: TestChain;
	account: Account;
	/** Undefined to deploy `data`. */
	to?: Address;
	data?: Hex;
	value?: bigint;
	authorizationList?: SignedAuthorization[];
}): Promise<TransactionReceipt> {
	const client = createWalletClient({ account, chain: chain.chain, transport: http(chain.rpcUrl) });
	const { authorizationList, ...rest } = transaction;
	const hash = await client.sendTransaction({
		...rest,
		...(authorizationList === undefined ? {} : { authorizationList }),
		// The limit is fixed, so that a gas report shows the gas used, and no estimate runs between two sends.
		gas: 8_000_000n,
	});
	return receiptOf(chain, hash);
}

/** Polls for the receipt: viem looks only when there is a new block, and an automining chain makes none. */
async function receiptOf({ publicClient }: TestChain, hash: Hash): Promise<TransactionReceipt> {
	for (const deadline = Date.now() + 10_000; ; await sleep(10)) {
		try {
			return await publicClient.getTransactionReceipt({ hash });
		} catch (error) {
			if (!(error instanceof TransactionReceiptNotFoundError) || Date.now() > deadline) throw error;
		}
	}
}
