import { maskUrl } from "@geoswap/keys/config/mask-url";
import { refuseDevelopmentKeys } from "@geoswap/keys/development/refuse-development-keys";
import { heartbeatTypedData } from "@geoswap/protocol";
import { type Address, recoverTypedDataAddress } from "viem";
import { readAttesterConfig } from "../../attester/attester-config.ts";
import { findCodeProblems } from "../../chain/evm/read/find-code-problems.ts";
import { attesterSetOfChain } from "../../config/chain-config.ts";
import type { Config } from "../../config/config.ts";
import { connectAttester } from "../../round/attestation/attester-client.ts";
import { attesterField, openAttesterKey } from "../../signer/open-attester-key.ts";
import { openSigners } from "../../signer/open-signers.ts";
import { checkEndpoint } from "./check-evm-chain.ts";
import { checkSolanaKeys } from "./check-secrets.ts";
import { checkSolanaEndpoint } from "./check-solana.ts";
import { check, type Finding, fail, ok, warn } from "./finding.ts";

const timeoutMs = 4_000;

/** Checks that the attesters answer, belong to the chains' sets, and are enough for each. */
export async function checkAttesters(config: Config): Promise<Finding[]> {
	const { attesters, chains } = config;
	const heard = new Set<Address>();
	const sets = [...chains.map(attesterSetOfChain), ...config.earlierAttesterSets];
	const members = new Set(sets.flatMap((set) => set.attesters));
	const findings = await Promise.all(
		attesters.map(({ url }) =>
			check(`attester ${maskUrl(url)}`, async () => {
				const heartbeats = await connectAttester({ url, timeoutMs }).heartbeats();
				const signers = await Promise.all(
					heartbeats.map(({ signature, ...heartbeat }) =>
						recoverTypedDataAddress({ ...heartbeatTypedData(heartbeat), signature }),
					),
				);
				for (const signer of signers) heard.add(signer);
				const [stranger] = signers.filter((signer) => !members.has(signer));
				if (stranger)
					return fail(
						`signs as ${stranger}, which is in no attester set; check that its key is the right one`,
					);
				if (signers.length === 0) return warn("answers, but reads no chain yet");
				const seen = new Set(heartbeats.map(({ chainId }) => chainId));
				const unseen = chains.filter(({ chainId }) => !seen.has(chainId));
				return unseen.length > 0
					? warn(`does not read chain ${unseen.map(({ chainId }) => chainId).join(", ")}`)
					: ok(`answers as ${signers[0]}`);
			}),
		),
	);
	// Nothing is attested if there is only one chain.
	const quorums = await Promise.all(
		(chains.length > 1 ? chains : []).map((chain) =>
			check(`attesters of chain ${chain.chainId}`, async () => {
				const { threshold, attesters } = attesterSetOfChain(chain);
				const alive = attesters.filter((member) => heard.has(member)).length;
				return alive >= threshold
					? ok(`${alive} answer, ${threshold} are needed`)
					: fail(`${alive} answer and ${threshold} are needed; nothing is filled until they do`);
			}),
		),
	);
	// A silent attester is not a fault of the configuration while the others are enough.
	const isEnough = quorums.flat().every(({ result }) => result === "ok");
	const told = findings
		.flat()
		.map(
			(one): Finding =>
				isEnough && one.result === "fail" && !one.message.startsWith("signs as")
					? { ...one, result: "warn" }
					: one,
		);
	return [...told, ...quorums.flat()];
}

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
							? problems.map((problem) => fail(`${problem}; nothing would be signed for this chain`))
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
