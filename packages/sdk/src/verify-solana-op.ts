import {
	type BuildSolanaResponse,
	type OrderTransaction,
	openTransaction,
	orderId,
	orderToJson,
	solanaChainId,
} from "@geoswap/protocol";
import { getBase64Decoder, isBlockhash } from "@solana/kit";
import { at, bounded, expectSame, isSame, natural, refuse } from "./expect-same.ts";
import { expectedOrder, type Terms } from "./expected-order.ts";
import { pinnedSolana } from "./pinned-solana.ts";

export type SolanaOpToVerify = Terms & { build: BuildSolanaResponse };

/** The service pays for these, so they cost the wallet nothing. The bounds ensure that the transaction can land. */
const maxComputeUnits = 200_000n;
const maxMicroLamportsPerUnit = 5_000_000n;

/**
 * Returns the transaction to sign. It is made here, from the caller's request, the pins and the quoted minimum; only
 * deadlines, fee payer, blockhash and compute limits are taken from the build, each within bounds. The build must then
 * be exactly the same bytes, so another instruction, account or amount is refused.
 */
export async function verifySolanaOp({
	wallet,
	...op
}: SolanaOpToVerify & { wallet: string }): Promise<OrderTransaction> {
	const { build, pins, intent } = op;
	const order = expectedOrder({ wallet, origin: "solana", ...op });
	const field = "intent.originChain";
	const pinned = pinnedSolana(pins, { field, chainId: Number(intent.originChain) });
	if (!pinned.assets.some((asset) => isSame(asset.address, intent.inputToken))) {
		const listed = pinned.assets.map((asset) => asset.address).join(" or ");
		refuse("intent.inputToken", listed, intent.inputToken);
	}

	const named = at(build, "geoOp.feePayer");
	const feePayer = pinned.feePayers.find((payer) => isSame(payer, named));
	if (feePayer === undefined) refuse("geoOp.feePayer", pinned.feePayers.join(" or "), named);
	const blockhash = at(build, "geoOp.blockhash");
	if (typeof blockhash !== "string" || !isBlockhash(blockhash))
		refuse("geoOp.blockhash", "a blockhash", blockhash);
	const unitLimit = at(build, "geoOp.compute.unitLimit");
	const compute = {
		unitLimit: Number(bounded("geoOp.compute.unitLimit", String(unitLimit), maxComputeUnits)),
		microLamportsPerUnit: natural(
			"geoOp.compute.microLamportsPerUnit",
			at(build, "geoOp.compute.microLamportsPerUnit"),
		),
	};
	if (compute.microLamportsPerUnit > maxMicroLamportsPerUnit) {
		refuse(
			"geoOp.compute.microLamportsPerUnit",
			`at most ${maxMicroLamportsPerUnit}`,
			compute.microLamportsPerUnit,
		);
	}

	const transaction = await openTransaction(pinned, order, { feePayer, blockhash, compute }).catch(
		// No token can hold the amount, or the pins are inconsistent.
		(error: Error) => refuse("intent.amount", "a valid transaction", error.message),
	);
	const base64 = getBase64Decoder();
	expectSame(
		{
			// Named fields come first, because an error about bytes can only state that they differ.
			geoOp: {
				order: orderToJson(order),
				orderId: orderId(order),
				chainId: solanaChainId,
				feePayer,
				escrow: pinned.program.address,
				blockhash,
				compute,
				message: base64.decode(transaction.message),
			},
			unsignedTransaction: base64.decode(transaction.unsigned),
		},
		build,
	);
	return transaction;
}
