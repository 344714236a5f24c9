import type { Address } from "@solana/kit";
import type { Faults, SolanaFaults } from "./faults.ts";
import { giveLamports, giveTokens } from "./give.ts";
import { tokenAccount } from "./new-account.ts";
import { invalidParams } from "./rpc-error.ts";
import { asAddress, configAt, type Methods, signatureOf } from "./rpc-params.ts";
import type { SolanaChain } from "./solana-chain.ts";
import { readMint } from "./token-balance.ts";

/**
 * Returns the RPC methods that only the local test chain has, not a real cluster such as Solana's public devnet. A mint
 * or an airdrop adds to the balance in all past slots too, so that it is final immediately and no slot shows a change.
 */
export function adminMethods(chain: SolanaChain, faults: Faults): Methods {
	return {
		devnet_mintTo: async (params) => {
			const { owner, token, amount } = mintRequest(configAt(params, 0));
			if (!readMint(chain.states.read(token))) throw invalidParams(`${token} is not a mint`);
			const made = await tokenAccount({ owner, token, amount });
			giveTokens(chain, made);
			return made.address;
		},
		devnet_airdrop: (params) => {
			const config = configAt(params, 0);
			giveLamports(chain, asAddress(config.address), BigInt(String(config.lamports)));
			return null;
		},
		devnet_warp: (params) => {
			chain.warp(Number(configAt(params, 0).slots));
			return chain.slot();
		},
		devnet_passTime: (params) => {
			const { seconds } = configAt(params, 0);
			if (!Number.isSafeInteger(seconds) || Number(seconds) < 0) throw invalidParams("no number of seconds");
			chain.passTime(Number(seconds));
			chain.tick();
			return null;
		},
		devnet_setFaults: (params) => {
			faults.set(configAt(params, 0) as SolanaFaults);
			return null;
		},
		devnet_dropTransaction: (params) => {
			try {
				chain.dropTransaction(signatureOf(configAt(params, 0).signature));
			} catch (error) {
				throw invalidParams((error as Error).message);
			}
			return null;
		},
		devnet_fork: (params) => {
			const { depth, keep } = configAt(params, 0);
			const kept = new Set((Array.isArray(keep) ? keep : []).map(signatureOf));
			chain.fork({ depth: Number(depth), isKept: (signature) => kept.has(signature) });
			return null;
		},
	};
}

function mintRequest({ owner, token, amount }: Record<string, unknown>): {
	owner: Address;
	token: Address;
	amount: bigint;
} {
	return { owner: asAddress(owner), token: asAddress(token), amount: BigInt(String(amount)) };
}
