import {
	type BuildSolanaResponse,
	type ChainDeployment,
	type Deployment,
	fromSolanaWord,
	type Order,
	openTransaction,
	orderId,
	orderToJson,
	type QuoteResponse,
	type SolanaAddress,
	solanaChainId,
	solanaNativeToken,
	toSolanaWord,
} from "@geoswap/protocol";
import { createKeyPairSignerFromPrivateKeyBytes, getBase64Decoder } from "@solana/kit";
import { getAddress, numberToHex } from "viem";
import type { Quote } from "../src/get-quote.ts";
import * as evm from "./op-fixture.ts";

export const { nowMs } = evm;
/** The signer of a publicly known key. */
export const signer = await createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(32).fill(0x11));

const solanaAddress = (n: number): SolanaAddress => fromSolanaWord(numberToHex(n, { size: 32 }));
const [usdc, feePayer, otherFeePayer, escrow, vault, operator] = [1, 2, 3, 4, 5, 6].map((n) =>
	solanaAddress(0xa0 + n),
) as [SolanaAddress, SolanaAddress, SolanaAddress, SolanaAddress, SolanaAddress, SolanaAddress];
const { attesterSet } = evm.makePins().chains[0] as ChainDeployment;
const feed = {
	chainId: 31337,
	address: getAddress(numberToHex(0xfeed, { size: 20 })),
	heartbeatSeconds: 60,
	deviationBps: 5,
};

export function makePins(): Deployment {
	return {
		...evm.makePins(),
		solana: {
			chainId: solanaChainId,
			name: "Solana",
			genesisHash: solanaAddress(0x9e),
			feePayers: [feePayer, otherFeePayer],
			program: {
				address: escrow,
				vault,
				operator,
				upgradeAuthority: null,
				deployedAtSlot: 1,
				code: { bytes: 1, sha256: numberToHex(1, { size: 32 }) },
				attesterSet,
			},
			settlementToken: usdc,
			assets: [
				{ symbol: "USDC", address: usdc, decimals: 6, kind: "stable", feed },
				{ symbol: "SOL", address: solanaNativeToken, decimals: 9, kind: "volatile", feed },
			],
		},
	};
}

/** Returns an intent from Solana to the EVM chain of the other fixture. */
export function makeIntent(changes: Partial<evm.FixtureIntent> = {}): evm.FixtureIntent {
	return evm.makeIntent({
		originChain: solanaChainId,
		inputToken: usdc,
		walletAddress: signer.address,
		...changes,
	});
}

export function makeOrder(changes: Partial<Order> = {}): Order {
	return evm.makeOrder({
		originChainId: BigInt(solanaChainId),
		escrow: toSolanaWord(escrow),
		originVault: toSolanaWord(vault),
		attesterSet: attesterSet.hash,
		wallet: toSolanaWord(signer.address),
		inputToken: toSolanaWord(usdc),
		...changes,
	});
}

/** Returns the order of the EVM fixture's wallet to Solana. */
export function makeOrderToSolana(): { intent: evm.FixtureIntent; order: Order; quote: Quote } {
	const recipient = signer.address;
	return {
		intent: evm.makeIntent({ destinationChain: solanaChainId, outputToken: usdc, recipient }),
		order: evm.makeOrder({
			destinationChainId: BigInt(solanaChainId),
			destinationVault: toSolanaWord(vault),
			outputToken: toSolanaWord(usdc),
			recipient: toSolanaWord(recipient),
		}),
		quote: evm.makeQuote({ recipient }),
	};
}

export function makeQuote(changes: Partial<Quote> = {}): Quote {
	return evm.makeQuote({ origin: "solana", ...changes });
}

export function makeQuoteBody(changes: Partial<Quote> = {}): QuoteResponse {
	return evm.makeQuoteBody({ origin: "solana", ...changes });
}

/** Returns a build that is consistent with any order, as a hostile service could make it. */
export async function makeBuild({
	order = makeOrder(),
	payer = feePayer,
	unitLimit = 60_000,
	microLamportsPerUnit = 50_000n,
	block = 0xb10c,
}: {
	order?: Order;
	payer?: SolanaAddress;
	unitLimit?: number;
	microLamportsPerUnit?: bigint;
	/** The block whose hash the transaction has. */
	block?: number;
} = {}): Promise<BuildSolanaResponse> {
	const { solana } = makePins();
	if (!solana) throw new Error("Solana is pinned");
	const blockhash = solanaAddress(block);
	const parts = { feePayer: payer, blockhash, compute: { unitLimit, microLamportsPerUnit } };
	const { message, unsigned } = await openTransaction(solana, order, parts);
	const base64 = getBase64Decoder();
	return {
		unsignedTransaction: base64.decode(unsigned),
		geoOpToken: "sealed-op",
		expiresAt: new Date(nowMs + 45_000).toISOString(),
		geoOp: {
			chainId: solanaChainId,
			orderId: orderId(order),
			order: orderToJson(order),
			feePayer: payer,
			escrow,
			blockhash,
			lastValidBlockHeight: "1150",
			compute: { unitLimit, microLamportsPerUnit: String(microLamportsPerUnit) },
			message: base64.decode(message),
		},
	};
}

export const otherPayer = otherFeePayer;
