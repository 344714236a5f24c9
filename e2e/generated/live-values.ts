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
/** A wallet that can pay, and with what. */
type Payer = { chainId: number; address: string; token: string; amount: string };

const strangers = {
	evm: ["0x1111111111111111111111111111111111111111", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"],
	solana: ["7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV"],
};
/** Of each kind; older ones have expired, which is an answer of its own. */
const kept = 40;
/** Each payer has as much as so many swaps take. */
const swapsEach = 4n;
const inputAmount = 5_000_000n;

/** What exists, to make requests of: what the service lists, and what it answered to earlier requests. */
export type LiveValues = {
	assets: Asset[];
	payers: Payer[];
	/** An address of that chain's form that is nobody's. */
	stranger: (chainId: number, n: number) => string;
	/** Where swaps are delivered: to nobody who is quoted, since that one could pay then. */
	recipient: (chainId: number) => string;
	quoteTokens: Record<"evm" | "solana", string[]>;
	/** Tokens with what their wallet signed, or with nothing where it cannot. */
	ops: Record<"evm" | "solana", { geoOpToken: string; signed: string }[]>;
	/** Of submitted swaps, then of quotes alone. */
	swapIds: Record<"submitted" | "quoted", string[]>;
	cursors: string[];
	/** Keeps what an answer brought. */
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
	// Another provider's: it can be quoted, and never built.
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
					// A page of one status goes on with that status only.
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
