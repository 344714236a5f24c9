import { connectSolana, type SolanaChain } from "../../chain/solana/connect-solana.ts";
import { checkOwnAccounts } from "../../chain/solana/read/check-own-accounts.ts";
import { firstUrl, type SolanaChainConfig } from "../../config/chain-config.ts";
import { expectGenesisHash } from "../../preflight/expect-genesis-hash.ts";
import { check, type Finding, type Found, fail, ok, warn } from "./finding.ts";

/** Below this balance, a lane reports that its fee payer runs out. */
const enoughLamports = 100_000_000n;

/** Checks the endpoint, and what escrow, vault and fee payers have there. */
export async function checkSolana(config: SolanaChainConfig): Promise<Finding[]> {
	const chain = connectSolana({ ...config, rpcUrl: firstUrl(config) });
	const endpoint = await check("Solana endpoint", () => checkSolanaEndpoint(chain));
	if (endpoint.some(({ result }) => result === "fail")) return endpoint;
	const others = config.nodes.filter(({ url }) => url !== firstUrl(config));
	const findings = await Promise.all([
		...others.map(({ url }) =>
			check(`Solana node ${new URL(url).host}`, () =>
				checkSolanaEndpoint(connectSolana({ ...config, rpcUrl: url })),
			),
		),
		check("Solana accounts", async () => {
			const lacking = await checkOwnAccounts(chain);
			return lacking.length > 0
				? lacking.map(fail)
				: ok("the vault has its operator, its caps and the accounts that it needs");
		}),
		...chain.deployment.feePayers.map((feePayer) =>
			check(`Solana fee payer ${feePayer}`, async () => {
				const { value } = await chain.rpc.getBalance(feePayer, { commitment: "confirmed" }).send();
				const has = `has ${value} lamports`;
				if (value === 0n) return fail(`${has}; send it some SOL`);
				return value < enoughLamports ? warn(`${has}, which is little; send it more`) : ok(has);
			}),
		),
	]);
	return [...endpoint, ...findings.flat()];
}

export async function checkSolanaEndpoint(chain: SolanaChain): Promise<Found> {
	await expectGenesisHash(chain, { patienceMs: 0 });
	return ok("answers as the deployment's cluster");
}
