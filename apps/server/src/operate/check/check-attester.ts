import { readAttesterConfig } from "../../attester/attester-config.ts";
import { findCodeProblems } from "../../chain/evm/read/find-code-problems.ts";
import { refuseDevelopmentKeys } from "../../preflight/refuse-development-keys.ts";
import { attesterField, openAttesterKey } from "../../signer/open-attester-key.ts";
import { openSigners } from "../../signer/open-signers.ts";
import { checkEndpoint } from "./check-evm-chain.ts";
import { checkSolanaKeys } from "./check-secrets.ts";
import { checkSolanaEndpoint } from "./check-solana.ts";
import { check, type Finding, fail, ok } from "./finding.ts";

/** Checks an attester's own file, key and endpoints. */
export async function checkAttester(path: string, { isOffline }: { isOffline: boolean }): Promise<Finding[]> {
	const config = readAttesterConfig(path);
	const { chains, solana, keys } = config;
	const signers = openSigners({ settings: keys, nowMs: Date.now });
	const key = check(attesterField(keys), async () => {
		const chainIds = chains.map(({ chainId }) => chainId);
		const { address } = await openAttesterKey(chainIds, { keys, signers });
		refuseDevelopmentKeys([address], chainIds);
		const sets = chains.map(({ chainId, deployment: { attesterSet } }) => ({ chainId, attesterSet }));
		if (solana)
			sets.push({ chainId: solana.deployment.chainId, attesterSet: solana.deployment.program.attesterSet });
		const others = sets.filter(({ attesterSet }) => !attesterSet.attesters.includes(address));
		return others.length > 0
			? others.map(({ chainId }) => fail(`${address} is not in the attester set of chain ${chainId}`))
			: ok(`is set; ${address} is in every chain's attester set`);
	});
	const endpoints = isOffline
		? []
		: [
				...chains.map((chain) => check(`chain ${chain.chainId} endpoint`, () => checkEndpoint(chain))),
				...chains.map((chain) =>
					check(`chain ${chain.chainId} code`, async () => {
						const problems = await findCodeProblems(chain, config);
						return problems.length > 0
							? problems.map((problem) => fail(`${problem}: nothing would be signed for this chain`))
							: ok("of vaults and escrows is the published one");
					}),
				),
				...(solana ? [check("Solana endpoint", () => checkSolanaEndpoint(solana))] : []),
			];
	try {
		return (await Promise.all([key, checkSolanaKeys(solana?.deployment), ...endpoints])).flat();
	} finally {
		await signers.close();
	}
}
