import { setTimeout as sleep } from "node:timers/promises";
import type { TestChain } from "@geoswap/devnet";
import {
	geoEscrowAbi,
	type Order,
	orderDigest,
	orderProof,
	orderTerms,
	orderTypedData,
	type SignatureKind,
} from "@geoswap/protocol";
import {
	type Account,
	type Address,
	type ContractFunctionArgs,
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

/** An order with its wallet's proof, as the escrow takes it. */
export type Opening = ContractFunctionArgs<typeof geoEscrowAbi, "nonpayable", "openMany">[0][number];

/**
 * Returns the order with its wallet's signature, of its typed data, or by `personal_sign` over the digest's 32 bytes.
 */
export async function signOpening({
	order,
	wallet,
	kind = "personal",
	gas = 300_000n,
}: {
	order: Order;
	wallet: LocalAccount;
	kind?: SignatureKind;
	gas?: bigint;
}): Promise<Opening> {
	const signature =
		kind === "typed"
			? await wallet.signTypedData(orderTypedData(order))
			: await wallet.signMessage({ message: { raw: orderDigest(order) } });
	return { wallet: wallet.address, gas, terms: orderTerms(order), proof: orderProof({ kind, signature }) };
}

/** Signs the wallet's authorization of the service's delegate on this chain, at its current nonce. */
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

/** Sends orders in one `openMany`, as type 4 if there is an authorization, and waits for its receipt. */
export async function sendBundle({
	chain,
	relayer,
	openings,
	authorizations = [],
	escrow = chain.deployment.contracts.escrow,
}: {
	chain: TestChain;
	relayer: LocalAccount;
	openings: Opening[];
	authorizations?: SignedAuthorization[];
	escrow?: Address;
}): Promise<TransactionReceipt> {
	const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: "openMany", args: [openings] });
	return sendTransaction({
		chain,
		account: relayer,
		to: escrow,
		data,
		...(authorizations.length > 0 && { authorizationList: authorizations }),
	});
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

/** Polls for the receipt, because viem polls only when there is a new block, and an automining chain makes none. */
async function receiptOf({ publicClient }: TestChain, hash: Hash): Promise<TransactionReceipt> {
	for (const deadline = Date.now() + 10_000; ; await sleep(10)) {
		try {
			return await publicClient.getTransactionReceipt({ hash });
		} catch (error) {
			if (!(error instanceof TransactionReceiptNotFoundError) || Date.now() > deadline) throw error;
		}
	}
}
