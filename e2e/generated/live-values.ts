import type { BuildResponse, BuildSolanaResponse, QuoteResponse, StatusResponse } from "@geoswap/protocol";
import { isSolana } from "@geoswap/protocol";
import { getTokens } from "@geoswap/sdk";
import { generateKeyPairSigner, type KeyPairSigner } from "@solana/kit";
import type { Hex, PrivateKeyAccount } from "viem";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { signTransaction } from "../caller/solana-caller.ts";
import type { Environment } from "../environment/environment.ts";
import { delegateWallet } from "../wallet/delegate-wallet.ts";
import { assetAddress } from "../wallet/make-order.ts";
import type { Draft } from "./draft-request.ts";

type Asset = { chainId: number; address: string; decimals: number; kind: string };
/** A wallet that can pay, and its token and amount. */
type Payer = { chainId: number; address: string; token: string; amount: string };

const strangers = {
	evm: ["0x1111111111111111111111111111111111111111", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"],
	solana: ["7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV"],
};
/** Number of values kept of each kind. Older ones have expired, which has its own answer. */
const kept = 40;
/** Each payer's balance is enough for this many swaps. */
const swapsEach = 4n;
const inputAmount = 5_000_000n;

/** Existing values for requests, which the service lists or has returned to earlier requests. */
export type LiveValues = {
	assets: Asset[];
	payers: Payer[];
	/** Returns an unused address of that chain's form. */
	stranger: (chainId: number, n: number) => string;
	/**
	 * Returns the recipient of swaps. It is never a wallet that is quoted, because the payout would let that wallet pay.
	 */
	recipient: (chainId: number) => string;
	quoteTokens: Record<"evm" | "solana", string[]>;
	/** Op tokens with the wallet's signature, or with none if it cannot sign. */
	ops: Record<"evm" | "solana", { geoOpToken: string; signed: string }[]>;
	/** Ids of submitted swaps, and of swaps that were only quoted. */
	swapIds: Record<"submitted" | "quoted", string[]>;
	cursors: string[];
	/** Keeps the values of an answer. */
	learn: (draft: Draft, body: Record<string, unknown>) => Promise<void>;
};

export async function createLiveValues(environment: Environment): Promise<LiveValues> {
	const { origin, solana, client } = environment;
	const amount = swapsEach * inputAmount;
	const evmRecipient = privateKeyToAddress(generatePrivateKey());
	const [solanaRecipient, evmPayer, solanaPayer, { tokens: assets }] = await Promise.all([
		generateKeyPairSigner(),
		environment.newWallet({ chain: origin, token: "USDC", amount }),
		solana.newWallet({ usdc: amount }),
		getTokens(client),
	]);
	// This wallet is delegated to another provider, so it can be quoted, but never built.
	const elsewhere = privateKeyToAccount(generatePrivateKey());
	await Promise.all([
		delegateWallet(origin, evmPayer),
		delegateWallet(origin, elsewhere, origin.deployment.contracts.escrow),
	]);
	const payer = (chainId: number, address: string, token: string): Payer => ({
		chainId,
		address,
		token,
		amount: String(inputAmount),
	});

	const values: LiveValues = {
		assets,
		payers: [
			payer(origin.chainId, evmPayer.address, assetAddress(origin, "USDC")),
			payer(solana.chainId, solanaPayer.address, assetAddress<string>(solana, "USDC")),
		],
		stranger: (chainId, n) => {
			const addresses = isSolana(chainId) ? strangers.solana : [...strangers.evm, elsewhere.address];
			return addresses[n % addresses.length] ?? "";
		},
		recipient: (chainId) => (isSolana(chainId) ? solanaRecipient.address : evmRecipient),
		quoteTokens: { evm: [], solana: [] },
		ops: { evm: [], solana: [] },
		swapIds: { submitted: [], quoted: [] },
		cursors: [],
		learn: async ({ operation, query }, body) => {
			switch (operation.id) {
				case "quote": {
					const { geoQuoteToken, swapId, origin: kind } = body as QuoteResponse;
					keep(values.quoteTokens[kind], geoQuoteToken);
					keep(values.swapIds.quoted, swapId);
					return;
				}
				case "buildGeoOp":
					return keep(values.ops.evm, await signEvm(evmPayer, body as BuildResponse));
				case "buildSolanaTx":
					return keep(values.ops.solana, await signSolana(solanaPayer, body as BuildSolanaResponse));
				case "submit":
				case "submitSolana":
					return keep(values.swapIds.submitted, (body as Pick<StatusResponse, "swapId">).swapId);
				case "listSwaps":
					// The cursor of a list filtered by status works with that status only.
					if (typeof body.nextCursor === "string" && !query.some((part) => part.startsWith("status")))
						keep(values.cursors, body.nextCursor);
			}
		},
	};
	return values;
}

async function signEvm(payer: PrivateKeyAccount, { geoOpHash, geoOpToken }: BuildResponse) {
	return { geoOpToken, signed: await payer.signMessage({ message: { raw: geoOpHash as Hex } }) };
}

async function signSolana(payer: KeyPairSigner, built: BuildSolanaResponse) {
	return { geoOpToken: built.geoOpToken, signed: await signTransaction(payer, built) };
}

function keep<T>(list: T[], value: T): void {
	list.push(value);
	if (list.length > kept) list.shift();
}
