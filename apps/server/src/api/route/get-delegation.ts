import {
	type DelegationResponse,
	delegationQuerySchema,
	isSolana,
	SwapError,
	solanaAddressSchema,
} from "@geoswap/protocol";
import type { Address } from "viem";
import * as z from "zod";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import { readAccountNonce } from "../../chain/evm/wallet/read-account-nonces.ts";
import { readDelegation } from "../../chain/evm/wallet/read-delegation.ts";
import { readAccountEscrow, readEpoch } from "../../chain/evm/wallet/read-epoch.ts";
import type { SolanaChain } from "../../chain/solana/connect-solana.ts";
import { parseRequest } from "../http/parse-request.ts";
import type { Route } from "../http/route.ts";
import { getDelegationDoc } from "../openapi/endpoints/get-delegation.ts";
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
			const { chainId } = parseRequest(delegationQuerySchema, query);
			if (solana && isSolana(chainId)) {
				const { walletAddress } = parseRequest(solanaWalletSchema, query);
				return { chainId, walletAddress, delegated: false, originReady: true, note: solanaNote };
			}
			const chain = chains.get(chainId);
			if (!chain) {
				const known = [...chains.keys(), ...(solana ? [solana.chainId] : [])];
				const message = `not a chain of this service; its chains are: ${known.join(", ")}`;
				throw new SwapError("INVALID_REQUEST", { issues: [{ path: "chainId", message }] });
			}
			const { walletAddress } = parseRequest(evmWalletSchema, query);
			return { chainId, walletAddress, ...(await delegationOf(chain, walletAddress)) };
		},
	};
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
