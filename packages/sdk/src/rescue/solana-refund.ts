import {
	createTokenAccount,
	decodeProgramData,
	emptyAccountRentLamports,
	expireOrder,
	type ProgramDeployment,
	payInput,
	programDataAddress,
	type SolanaAddress,
	solanaNativeToken,
	tokenAccountOf,
	tokenAccountRentLamports,
	toSolanaWord,
	transferInstruction,
} from "@geoswap/protocol";
import {
	appendTransactionMessageInstructions,
	createTransactionMessage,
	type GetAccountInfoApi,
	type GetLatestBlockhashApi,
	type GetMultipleAccountsApi,
	type GetSignatureStatusesApi,
	type GetTokenAccountsByOwnerApi,
	getAddressDecoder,
	getBase64EncodedWireTransaction,
	getBase64Encoder,
	getSignatureFromTransaction,
	type Instruction,
	pipe,
	type Rpc,
	type SendTransactionApi,
	setTransactionMessageFeePayerSigner,
	setTransactionMessageLifetimeUsingBlockhash,
	signTransactionMessageWithSigners,
	type TransactionSigner,
} from "@solana/kit";
import { sleep } from "../sleep.ts";
import type { SolanaOrder } from "./find-solana-orders.ts";

const feeLamports = 5_000n;

/** Thrown if a refund cannot be sent now. The message states what has to be done first. */
export class RefundRefused extends Error {
	override name = "RefundRefused";
}

/** A refund that can be sent, and what it costs the sender. */
export type SolanaRefund = {
	order: SolanaOrder;
	/** The fee, the rent of the wallet's token account if that is missing, and what a wallet lacks to hold SOL. */
	lamports: bigint;
	/** True if the payer creates the wallet's token account. */
	createsAccount: boolean;
	/** Another token account of a wallet that gave its usual one away. */
	instead?: SolanaAddress;
	/** The lamports that the payer sends to the wallet, so that the chain lets it hold the refunded SOL. */
	missingLamports: bigint;
};

/** Reads what a refund of an order costs now. Any key can pay for it, as the program pays only the order's wallet. */
export async function planSolanaRefund(
	rpc: Rpc<GetMultipleAccountsApi & GetTokenAccountsByOwnerApi>,
	order: SolanaOrder,
): Promise<SolanaRefund> {
	const { wallet, token } = order;
	const isNative = token === solanaNativeToken;
	const address = isNative ? wallet : await tokenAccountOf({ owner: wallet, token });
	const { value } = await rpc
		.getMultipleAccounts([address], { commitment: "confirmed", encoding: "base64" })
		.send();
	const [account] = value;
	if (isNative) {
		const missing = emptyAccountRentLamports - (account?.lamports ?? 0n) - order.held;
		const missingLamports = missing > 0n ? missing : 0n;
		return { order, lamports: feeLamports + missingLamports, createsAccount: false, missingLamports };
	}
	// Lamports alone, which anyone can send to the address, make no token account.
	const held = account?.owner === tokenProgram ? bytesOf(account.data[0]) : undefined;
	const plan = { order, createsAccount: !held, missingLamports: 0n };
	if (!held) return { ...plan, lamports: feeLamports + tokenAccountRentLamports };
	const isWallets = getAddressDecoder().decode(held, ownerOffset) === wallet;
	const instead = isWallets ? undefined : await findAccount(rpc, { wallet, token });
	return { ...plan, lamports: feeLamports, ...(instead && { instead }) };
}

const tokenProgram = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" as SolanaAddress;
/** The place of the owner in a token account. */
const ownerOffset = 32;

/** Finds a token account of a wallet that gave its usual one away. */
async function findAccount(
	rpc: Rpc<GetTokenAccountsByOwnerApi>,
	{ wallet, token }: { wallet: SolanaAddress; token: SolanaAddress },
): Promise<SolanaAddress> {
	const { value } = await rpc
		.getTokenAccountsByOwner(wallet, { mint: token }, { commitment: "confirmed", encoding: "base64" })
		.send();
	const [found] = value;
	if (found) return found.pubkey;
	throw new RefundRefused(
		`${wallet} has given its account for ${token} away and has no other; create one with spl-token create-account ${token} and a new key`,
	);
}

/**
 * Sends a refund. Returns its signature, and whether the chain has confirmed it. An unconfirmed refund may still land.
 * Throws if it was not sent.
 */
export async function sendSolanaRefund(
	rpc: Rpc<GetAccountInfoApi & GetLatestBlockhashApi & SendTransactionApi & GetSignatureStatusesApi>,
	{
		program,
		payer,
		refund: { order, createsAccount, instead, missingLamports },
		timeoutMs = 90_000,
	}: {
		program: Pick<ProgramDeployment, "address">;
		payer: TransactionSigner;
		refund: SolanaRefund;
		timeoutMs?: number;
	},
): Promise<{ signature: string; isConfirmed: boolean }> {
	if (order.token === solanaNativeToken && payer.address === order.wallet) await expectFinal(rpc, program);
	const { wallet, token, orderId } = order;
	const instructions: Instruction[] = [];
	if (order.place === "escrow") instructions.push(await expireOrder(program.address, orderId));
	if (createsAccount) instructions.push(await createTokenAccount({ payer, owner: wallet, token }));
	if (missingLamports > 0n) {
		const native = { token: toSolanaWord(solanaNativeToken), amount: missingLamports };
		instructions.push(await transferInstruction({ assets: [] }, { from: payer, to: wallet, ...native }));
	}
	instructions.push(await payInput(program.address, { orderId, token, owner: wallet, instead }));

	const { value: lifetime } = await rpc.getLatestBlockhash({ commitment: "confirmed" }).send();
	const signed = await signTransactionMessageWithSigners(
		pipe(
			createTransactionMessage({ version: 0 }),
			(empty) => setTransactionMessageFeePayerSigner(payer, empty),
			(paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
			(living) => appendTransactionMessageInstructions(instructions, living),
		),
	);
	const signature = getSignatureFromTransaction(signed);
	await rpc.sendTransaction(getBase64EncodedWireTransaction(signed), { encoding: "base64" }).send();
	for (const until = Date.now() + timeoutMs; Date.now() < until; await sleep(500)) {
		// That a node does not respond now shows nothing about the transaction that it got.
		const status = await rpc
			.getSignatureStatuses([signature])
			.send()
			.then(({ value }) => value[0])
			.catch(() => undefined);
		if (status?.err) throw new RefundRefused(`the refund ${signature} failed on the chain`);
		if (status && status.confirmationStatus !== "processed") return { signature, isConfirmed: true };
	}
	return { signature, isConfirmed: false };
}

/**
 * Throws unless the program is final. A refund of SOL names the wallet in an instruction of the program. If the wallet
 * also signed it as payer, another version of the program could take everything from the wallet.
 */
async function expectFinal(
	rpc: Rpc<GetAccountInfoApi>,
	{ address }: Pick<ProgramDeployment, "address">,
): Promise<void> {
	const { value } = await rpc
		.getAccountInfo(await programDataAddress(address), { commitment: "confirmed", encoding: "base64" })
		.send();
	const data = value && decodeProgramData(bytesOf(value.data[0]));
	if (data?.upgradeAuthority === null) return;
	throw new RefundRefused(
		"the program can be replaced, so that the wallet must not sign a refund of SOL; another key has to pay for it",
	);
}

function bytesOf(base64: string): Uint8Array {
	return new Uint8Array(getBase64Encoder().encode(base64));
}
