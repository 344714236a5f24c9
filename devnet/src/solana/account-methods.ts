import { type Address, type EncodedAccount, getBase58Encoder } from "@solana/kit";
import { TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import { accountJson } from "./account-json.ts";
import { invalidParams } from "./rpc-error.ts";
import {
	addressAt,
	asAddress,
	type Config,
	commitmentOf,
	configAt,
	headFor,
	inContext,
	type Methods,
} from "./rpc-params.ts";
import type { SolanaChain } from "./solana-chain.ts";
import { readMint, readTokenAccount, uiTokenAmount } from "./token-balance.ts";

const maxAccounts = 100;

type AccountFilter = { dataSize?: number | bigint; memcmp?: { offset: number | bigint; bytes: string } };

/** Returns whether an account passes a filter, which has a size, or bytes in base58 at an offset. */
function passes({ data }: EncodedAccount, { dataSize, memcmp }: AccountFilter): boolean {
	if (dataSize !== undefined && data.length !== Number(dataSize)) return false;
	if (!memcmp) return true;
	const bytes = getBase58Encoder().encode(memcmp.bytes);
	const offset = Number(memcmp.offset);
	return Buffer.compare(data.slice(offset, offset + bytes.length), bytes as Uint8Array) === 0;
}

export function accountMethods(chain: SolanaChain): Methods {
	const reader = (config: Config) => {
		const commitment = commitmentOf(config);
		return (address: Address) => chain.accountAt(address, commitment);
	};

	return {
		getAccountInfo: (params) => {
			const config = configAt(params, 1);
			const read = reader(config);
			return inContext(headFor(chain, config), accountJson(read(addressAt(params, 0)), config, read));
		},
		getMultipleAccounts: (params) => {
			const config = configAt(params, 1);
			const addresses = params[0];
			if (!Array.isArray(addresses)) throw invalidParams("Invalid params: expected addresses");
			if (addresses.length > maxAccounts) {
				throw invalidParams(`Too many inputs provided; max ${maxAccounts}`);
			}
			const read = reader(config);
			const base64 = { encoding: "base64", ...config };
			const value = addresses.map((address) => accountJson(read(asAddress(address)), base64, read));
			return inContext(headFor(chain, config), value);
		},
		getBalance: (params) => {
			const config = configAt(params, 1);
			const account = reader(config)(addressAt(params, 0));
			return inContext(headFor(chain, config), account?.lamports ?? 0n);
		},
		getTokenAccountBalance: (params) => {
			const config = configAt(params, 1);
			const read = reader(config);
			const account = read(addressAt(params, 0));
			if (!account) throw invalidParams("Invalid param: could not find account");
			const token = readTokenAccount(account);
			const mint = token && readMint(read(token.mint));
			if (!token || !mint) throw invalidParams("Invalid param: not a Token account");
			return inContext(headFor(chain, config), uiTokenAmount(token.amount, mint.decimals));
		},
		getTokenSupply: (params) => {
			const config = configAt(params, 1);
			const mint = readMint(reader(config)(addressAt(params, 0)));
			if (!mint) throw invalidParams("Invalid param: not a Token mint");
			return inContext(headFor(chain, config), uiTokenAmount(mint.supply, mint.decimals));
		},
		getTokenAccountsByOwner: (params) => {
			const owner = addressAt(params, 0);
			const filter = configAt(params, 1);
			const config = configAt(params, 2);
			const read = reader(config);
			const value = chain.states.addressesOf(TOKEN_PROGRAM_ADDRESS).flatMap((pubkey) => {
				const account = read(pubkey);
				const token = readTokenAccount(account);
				if (token?.owner !== owner || (filter.mint !== undefined && token.mint !== filter.mint)) return [];
				return [{ pubkey, account: accountJson(account, config, read) }];
			});
			const isOfProgram = filter.programId === undefined || filter.programId === TOKEN_PROGRAM_ADDRESS;
			return inContext(headFor(chain, config), isOfProgram ? value : []);
		},
		getProgramAccounts: (params) => {
			const program = addressAt(params, 0);
			const config = configAt(params, 1);
			headFor(chain, config);
			const read = reader(config);
			const filters = (Array.isArray(config.filters) ? config.filters : []) as AccountFilter[];
			return chain.states.addressesOf(program).flatMap((pubkey) => {
				const account = read(pubkey);
				const isFound = account?.programAddress === program && filters.every((one) => passes(account, one));
				return isFound ? [{ pubkey, account: accountJson(account, config, read) }] : [];
			});
		},
		getMinimumBalanceForRentExemption: ([size]) =>
			chain.svm.minimumBalanceForRentExemption(BigInt(Number(size))),
	};
}
