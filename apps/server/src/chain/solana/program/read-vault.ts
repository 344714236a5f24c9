import {
	accountRentLamports,
	clockAddress,
	decodeClock,
	decodeProgramData,
	decodeVaultAccount,
	lesser,
	programAccountSizes,
	programDataAddress,
	programLoader,
	programProblem,
	solanaNativeToken,
	tokenAccountOf,
	toSolanaWord,
	type VaultAccount,
	type VaultCap,
} from "@geoswap/protocol";
import { getTokenDecoder, TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import type { Hex } from "viem";
import type { SolanaChain, SolanaCommitment } from "../connect-solana.ts";
import { readWholeAccounts, type WholeAccount } from "../read/read-accounts.ts";

/** The vault's inventory, by the 32 bytes of each asset. */
export type VaultInventory = {
	vault: VaultAccount;
	/** The balances of the vault, without the rent of its own account. */
	balances: Map<Hex, bigint>;
	/** The amounts that may leave it now: the balance, or less if the token's cap is nearly used up. */
	payable: Map<Hex, bigint>;
};

/** Reads the vault, what it holds, and what its caps allow now, at one slot. */
export async function readVault(
	chain: SolanaChain,
	{ commitment }: { commitment: SolanaCommitment },
): Promise<VaultInventory> {
	const { assets, program } = chain.deployment;
	const tokens = assets.map(({ address }) => address).filter((token) => token !== solanaNativeToken);
	const holdings = await Promise.all(tokens.map((token) => tokenAccountOf({ owner: program.vault, token })));
	const [clock, own, ...accounts] = await readWholeAccounts(
		chain,
		[clockAddress, program.vault, ...holdings],
		{ commitment },
	);
	const vault = own?.program === program.address ? decodeVaultAccount(own.data) : undefined;
	if (!clock || !own || !vault) throw new Error(`there is no vault at ${program.vault}`);
	const nowSeconds = decodeClock(clock.data);
	const balances = new Map([
		[toSolanaWord(solanaNativeToken), own.lamports - accountRentLamports(programAccountSizes.vault)],
		...tokens.map((token, i) => [toSolanaWord(token), amountIn(accounts[i])] as const),
	]);
	const room = new Map(vault.caps.map((cap) => [toSolanaWord(cap.token), roomOf(cap, nowSeconds)]));
	const payable = new Map(
		[...balances].map(([token, balance]) => {
			const left = vault.isPaused ? 0n : (room.get(token) ?? 0n);
			return [token, lesser(balance, left)] as const;
		}),
	);
	return { vault, balances, payable };
}

/** Returns the vault's balance in its token account; zero if the account does not exist. */
function amountIn(account: WholeAccount | undefined): bigint {
	const decoder = getTokenDecoder();
	const isToken = account?.program === TOKEN_PROGRAM_ADDRESS && account.data.length === decoder.fixedSize;
	return isToken ? decoder.decode(account.data).amount : 0n;
}

/** Returns how much of a token may leave now. The used amount drains evenly, a whole cap in an hour. */
function roomOf({ perHour, used, updatedAt }: VaultCap, nowSeconds: bigint): bigint {
	const seconds = nowSeconds > updatedAt ? nowSeconds - updatedAt : 0n;
	const drained = (perHour * seconds) / 3_600n;
	const left = used > drained ? used - drained : 0n;
	return perHour > left ? perHour - left : 0n;
}

/**
 * Returns how the deployed program differs from the published one; undefined if it does not. Reads at `confirmed`,
 * because a replaced program must be noticed before its replacement is final. Throws if the chain does not answer.
 */
export async function findProgramProblem(chain: SolanaChain): Promise<string | undefined> {
	const { program } = chain.deployment;
	const addresses = [program.address, await programDataAddress(program.address)];
	const [account, code] = await readWholeAccounts(chain, addresses, { commitment: "confirmed" });
	const data =
		account?.program === programLoader && code?.program === programLoader
			? decodeProgramData(code.data)
			: undefined;
	return data ? programProblem(data, program) : `there is no program at ${program.address}`;
}
