import { getBase64Decoder } from "@solana/kit";
import { buildSolanaTx } from "./build-solana-tx.ts";
import type { OriginSigner } from "./origin-signer.ts";
import { type SolanaWallet, toRemoteWallet } from "./solana-wallet.ts";
import { verifySolanaOp } from "./verify-solana-op.ts";

/** A wallet on Solana, for `swap()`. */
export async function solanaSigner(wallet: SolanaWallet): Promise<OriginSigner> {
	const { address, signTransaction } = await toRemoteWallet(wallet);
	return {
		origin: "solana",
		address,
		sign: async (client, { intent, quote, pins, limits, signal }) => {
			const build = await buildSolanaTx(client, { geoQuoteToken: quote.geoQuoteToken, signal });
			const { unsigned } = await verifySolanaOp({ intent, quote, build, pins, limits, wallet: address });
			const signedTransaction = getBase64Decoder().decode(await signTransaction(unsigned, { signal }));
			const { geoOpToken, expiresAt } = build;
			return { path: "/swap/submit-solana", body: { geoOpToken, signedTransaction }, expiresAt };
		},
	};
}
