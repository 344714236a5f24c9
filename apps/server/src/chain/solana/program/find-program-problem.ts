import { decodeProgramData, programDataAddress, programLoader, programProblem } from "@geoswap/protocol";
import type { SolanaChain } from "../connect-solana.ts";
import { readWholeAccounts } from "../read/read-whole-accounts.ts";

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
