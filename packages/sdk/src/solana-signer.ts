import { getBase64Decoder } from "@solana/kit";
import { buildSolanaTx } from "./build-solana-tx.ts";
import type { OriginSigner } from "./origin-signer.ts";
import { sendAgain } from "./send-again.ts";
import { type SolanaWallet, toRemoteWallet } from "./solana-wallet.ts";
import { verifySolanaOp } from "./verify-solana-op.ts";

/**
 * Upper bound on the life of a transaction, which can land for 150 blocks after its blockhash, about a minute or more.
 * The build has chosen the blockhash.
 */
const maxLifeMs = 120_000;

/** Returns a signer for a wallet on Solana, to pass to `swap()`. */
export async function solanaSigner(wallet: SolanaWallet): Promise<OriginSigner> {
	const { address, signTransaction } = await toRemoteWallet(wallet);
	return {
		origin: "solana",
		address,
		sign: async (client, { intent, quote, pins, limits, signal }) => {
			const { geoQuoteToken } = quote;
			const build = await sendAgain(() => buildSolanaTx(client, { geoQuoteToken, signal }), { signal });
			const { unsigned } = await verifySolanaOp({ intent, quote, build, pins, limits, wallet: address });
			const signedTransaction = getBase64Decoder().decode(await signTransaction(unsigned, { signal }));
			const { geoOpToken, expiresAt } = build;
			const deadAt = new Date(Date.now() + maxLifeMs).toISOString();
			return { path: "/swap/submit-solana", body: { geoOpToken, signedTransaction }, expiresAt, deadAt };
		},
	};
}
