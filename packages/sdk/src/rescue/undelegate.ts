import {
	type Account,
	type Address,
	type Hash,
	type LocalAccount,
	type PublicClient,
	type WalletClient,
	zeroAddress,
} from "viem";
import { getCode, getTransactionCount, sendTransaction, waitForTransactionReceipt } from "viem/actions";
import { revokeMandates } from "./mandates.ts";

/** The code of a delegated wallet: this prefix and the delegate's address (EIP-7702). */
const delegationPrefix = "0xef0100";

/** Returns the address that a wallet is delegated to on a chain, or undefined if to none. */
export async function readDelegate(client: PublicClient, wallet: Address): Promise<Address | undefined> {
	const code = await getCode(client, { address: wallet });
	return code?.startsWith(delegationPrefix) ? `0x${code.slice(delegationPrefix.length)}` : undefined;
}

/**
 * Removes a wallet's delegation by an authorization for the zero address, in a transaction that the payer sends and
 * pays for. The payer may be the wallet itself. An earlier transaction revokes the wallet's mandates, which would be
 * valid again after its next delegation. That revocation fails if the wallet is delegated to another provider. Returns
 * once the chain shows the wallet without a delegation.
 */
export async function undelegate(
	client: PublicClient,
	{
		wallet,
		payer,
		chainId,
	}: {
		/** The wallet's account. It signs the authorization, and the revocation if another wallet pays. */
		wallet: Pick<LocalAccount, "address" | "signAuthorization" | "signTypedData">;
		payer: WalletClient & { account: Account };
		chainId: number;
	},
): Promise<{ hash: Hash; isRevoked: boolean }> {
	if (!wallet.signAuthorization) throw new TypeError("this account cannot sign an EIP-7702 authorization");
	// The delegate's code must not keep the owner from leaving it, so a failed revocation is ignored.
	const isRevoked = await revokeMandates(client, { wallet, payer, chainId }).then(
		() => true,
		() => false,
	);
	const isOwn = payer.account.address.toLowerCase() === wallet.address.toLowerCase();
	const nonce = await getTransactionCount(client, { address: wallet.address, blockTag: "pending" });
	const authorization = await wallet.signAuthorization({
		address: zeroAddress,
		chainId,
		// A transaction of the wallet itself uses a nonce before its authorizations are processed.
		nonce: isOwn ? nonce + 1 : nonce,
	});
	const hash = await sendTransaction(payer, {
		account: payer.account,
		chain: null,
		to: payer.account.address,
		authorizationList: [authorization],
	});
	// A check for a replacement would read whole blocks, which anyone can make too large to be read.
	const { status } = await waitForTransactionReceipt(client, { hash, checkReplacement: false });
	const delegate = await readDelegate(client, wallet.address);
	// An authorization whose nonce has passed is skipped, and its transaction still succeeds.
	if (status !== "success" || delegate !== undefined) {
		throw new Error(
			`transaction ${hash} did not remove the delegation, because the wallet sent another one meanwhile. Try again`,
		);
	}
	return { hash, isRevoked };
}
