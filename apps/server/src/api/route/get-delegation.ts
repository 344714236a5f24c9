import {
	type DelegationResponse,
	delegationQuerySchema,
	delegationResponseSchema,
	isSolana,
	SwapError,
	solanaAddressSchema,
	toSolanaWord,
} from "@geoswap/protocol";
import type { Address } from "viem";
import * as z from "zod";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import {
	readAccountEscrow,
	readAccountNonce,
	readBalance,
	readEpoch,
} from "../../chain/evm/wallet/read-wallet.ts";
import { readDelegation } from "../../chain/evm/wallet/wallet-delegation.ts";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { readSolanaWallet } from "../../chain/solana/read/read-solana-wallet.ts";
import { parseRequest } from "../http/parse-request.ts";
import type { Route } from "../http/route.ts";
import {
	exampleAuthorization,
	exampleIntent,
	exampleTypedDelegate,
	exampleWallet,
} from "../openapi/examples/example-swap.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";
import { anyCaseAddressSchema } from "./any-case-address-schema.ts";

const solanaWalletSchema = z.object({ walletAddress: solanaAddressSchema });
const evmWalletSchema = z.object({ walletAddress: anyCaseAddressSchema });

const solanaNote =
	"A wallet on Solana needs no delegation, so there is nothing to sign here. Build with POST /swap/build-solana-tx.";
const otherProviderNote =
	"This wallet is delegated to another provider on this chain, and the service never replaces that. Use a different wallet on this chain.";
const contractNote =
	"This address is a contract on this chain and cannot sign a swap. Use a wallet that signs with a key of its own.";

/** GET /swap/delegation?chainId=&walletAddress=. */
export function getDelegation({
	chains,
	solana,
}: {
	chains: ReadonlyMap<number, EvmChain>;
	solana: SolanaChain | undefined;
}): Route {
	return {
		method: "GET",
		path: "/swap/delegation",
		operation: "delegation",
		doc: getDelegationDoc,
		async handle({ query }): Promise<DelegationResponse> {
			const { chainId, token } = parseRequest(delegationQuerySchema, query);
			if (solana && isSolana(chainId)) {
				const { walletAddress } = parseRequest(solanaWalletSchema, query);
				const state = { chainId, walletAddress, delegated: false, originReady: true, note: solanaNote };
				if (token === undefined) return state;
				const { address } = listedAsset(solana.deployment.assets, (asset) => asset.address === token);
				const held = { wallet: walletAddress, token: toSolanaWord(address) };
				return { ...state, balance: String((await readSolanaWallet(solana, held)).balance) };
			}
			const chain = chains.get(chainId);
			if (!chain) {
				const known = [...chains.keys(), ...(solana ? [solana.chainId] : [])];
				const message = `not a chain of this service; its chains are: ${known.join(", ")}`;
				throw new SwapError("INVALID_REQUEST", { issues: [{ path: "chainId", message }] });
			}
			const { walletAddress } = parseRequest(evmWalletSchema, query);
			const [state, balance] = await Promise.all([
				delegationOf(chain, walletAddress),
				token === undefined ? undefined : balanceOf(chain, { wallet: walletAddress, token }),
			]);
			return { chainId, walletAddress, ...state, ...(balance !== undefined && { balance }) };
		},
	};
}

async function balanceOf(
	chain: EvmChain,
	{ wallet, token }: { wallet: Address; token: string },
): Promise<string> {
	const asset = listedAsset(
		chain.deployment.assets,
		({ address }) => address.toLowerCase() === token.toLowerCase(),
	);
	return String(await readBalance(chain, { wallet, token: asset.address }));
}

/** Returns the requested asset. Other contracts are not called, because their code may answer anything. */
function listedAsset<Asset>(assets: readonly Asset[], isRequested: (asset: Asset) => boolean): Asset {
	const asset = assets.find(isRequested);
	if (asset !== undefined) return asset;
	const message = "not a token of this service on this chain; GET /tokens lists them";
	throw new SwapError("INVALID_REQUEST", { issues: [{ path: "token", message }] });
}

async function delegationOf(
	chain: EvmChain,
	wallet: Address,
): Promise<Omit<DelegationResponse, "chainId" | "walletAddress">> {
	const [delegation, accountNonce, epoch] = await Promise.all([
		readDelegation(chain, wallet),
		readAccountNonce(chain, wallet, "latest"),
		readEpoch(chain, wallet),
	]);
	const { contracts } = chain.deployment;
	const mandateEpoch = Number(epoch);
	switch (delegation.kind) {
		case "ours":
			return {
				delegated: true,
				originReady: true,
				delegatedTo: delegation.delegate,
				accepts: delegation.delegate === contracts.typedDelegate ? ["typed"] : ["personal", "typed"],
				accountNonce,
				mandateEpoch,
				mandateEscrow: contracts.escrow,
			};
		case "none":
		case "earlier":
			return {
				delegated: delegation.kind === "earlier",
				originReady: false,
				...(delegation.kind === "earlier" && {
					delegatedTo: delegation.delegate,
					mandateEscrow: await readAccountEscrow(chain, wallet, { kind: delegation.kind }),
				}),
				delegationTarget: contracts.delegate,
				typedDelegationTarget: contracts.typedDelegate,
				accountNonce,
				mandateEpoch,
			};
		case "other":
			return {
				delegated: true,
				originReady: false,
				delegatedTo: delegation.delegate,
				blocked: "UNSUPPORTED_DELEGATION",
				note: otherProviderNote,
			};
		case "contract":
			return {
				delegated: false,
				originReady: false,
				blocked: "UNSUPPORTED_DELEGATION",
				note: contractNote,
			};
	}
}

const getDelegationDoc: RouteDoc = {
	id: "getDelegation",
	summary: "Read a wallet's delegation",
	description: `Says whether the wallet is ready to swap from this chain. Ask before the first swap of a wallet from a
chain; after that swap it stays delegated.

Branch on \`originReady\`, not on \`delegated\`: a wallet on Solana is never delegated and always ready.

| \`originReady\` | then |
|---|---|
| \`true\` | build without an authorization |
| \`false\`, with \`delegationTarget\` and \`accountNonce\` | sign an EIP-7702 authorization over exactly these two and the chain's id, and attach it to the build |
| \`false\`, with \`blocked\` | the wallet is delegated to another provider or is a contract: use a different one |

To have the wallet accept typed data only, and refuse \`personal_sign\`, sign \`typedDelegationTarget\` in place of
\`delegationTarget\`. \`accepts\` says what a wallet that is ready accepts. A wallet that is delegated to a contract that we
offered before needs a new delegation.

With a \`token\`, the response has the wallet's \`balance\` of it, so that a wallet without money need not sign anything.

If there is nothing to sign, \`note\` says in a sentence what to do.

The delegation costs the wallet nothing: the authorization is sent with its first swap. [It can be removed](#removeDelegation)
at no cost too.`,
	query: delegationQuerySchema,
	response: delegationResponseSchema,
	errors: [],
	example: {
		query: { chainId: "8453", walletAddress: exampleWallet, token: exampleIntent.inputToken },
		response: {
			chainId: 8453,
			walletAddress: exampleWallet,
			delegated: false,
			originReady: false,
			delegationTarget: exampleAuthorization.address,
			typedDelegationTarget: exampleTypedDelegate,
			accountNonce: exampleAuthorization.nonce,
			mandateEpoch: 0,
			balance: exampleIntent.amount,
		},
	},
};
