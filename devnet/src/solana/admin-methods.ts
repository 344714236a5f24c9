import { type Address, lamports } from "@solana/kit";
import { getMintEncoder, getTokenEncoder } from "@solana-program/token";
import type { AccountState } from "./account-states.ts";
import type { Faults, SolanaFaults } from "./faults.ts";
import { systemAccount, tokenAccount } from "./new-account.ts";
import { invalidParams } from "./rpc-error.ts";
import { asAddress, configAt, type Methods, signatureOf } from "./rpc-params.ts";
import type { SolanaChain } from "./solana-chain.ts";
import { readMint, readTokenAccount } from "./token-balance.ts";

/** What only a chain of one's own can be asked for. Balances that it gives were always there: no slot has a change. */
export function adminMethods(chain: SolanaChain, faults: Faults): Methods {
	return {
		devnet_mintTo: async (params) => {
			const { owner, token, amount } = mintRequest(configAt(params, 0));
			if (!readMint(chain.states.read(token))) throw invalidParams(`${token} is no mint`);
			const made = await tokenAccount({ owner, token, amount });
			chain.states.amend(made.address, (account) => {
				const held = readTokenAccount(account);
				if (!account || !held) return made;
				return withData(account, getTokenEncoder().encode({ ...held, amount: held.amount + amount }));
			});
			chain.states.amend(token, (account) => {
				const mint = readMint(account);
				if (!account || !mint) return account;
				return withData(account, getMintEncoder().encode({ ...mint, supply: mint.supply + amount }));
			});
			return made.address;
		},
		devnet_airdrop: (params) => {
			const config = configAt(params, 0);
			const address = asAddress(config.address);
			const amount = BigInt(String(config.lamports));
			chain.states.amend(address, (account) =>
				account
					? { ...account, lamports: lamports(account.lamports + amount) }
					: systemAccount(address, amount),
			);
			return null;
		},
		devnet_warp: (params) => {
			chain.warp(Number(configAt(params, 0).slots));
			return chain.slot();
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
	};
}

function mintRequest({ owner, token, amount }: Record<string, unknown>): {
	owner: Address;
	token: Address;
	amount: bigint;
} {
	return { owner: asAddress(owner), token: asAddress(token), amount: BigInt(String(amount)) };
}

function withData(account: NonNullable<AccountState>, data: ArrayLike<number>): NonNullable<AccountState> {
	return { ...account, data: Uint8Array.from(data) };
}
