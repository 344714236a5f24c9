import { createClient, getChains } from "@geoswap/sdk";
import { type Adding, type Outcome, readConfigured } from "./adding.ts";

/** Asks the API whether it quotes the chain to the canary. */
export async function requestService(adding: Adding): Promise<Outcome> {
	const { chainId } = adding.preset;
	const { apiUrl, apiKey, isDryRun } = adding.options;
	const found = readConfigured(adding);
	if (!found || isDryRun) return { state: "would do", lines: ["wait until the API lists the chain as live"] };
	if (apiUrl === undefined || apiKey === undefined) {
		const next = `restart the workers with the relayers' keys of chain ${chainId}, restart the API, then run again with --api, --account and GEOSWAP_CANARY_API_KEY`;
		return { state: "waiting", lines: [next] };
	}
	const listed = await getChains(createClient({ baseUrl: apiUrl, apiKey }))
		.then(({ chains }) => chains.find((one) => one.chainId === chainId))
		.catch((error: unknown) => (error as Error).message);
	if (typeof listed === "object" && listed.live)
		return { state: "done", lines: ["the API quotes the chain"] };
	const why =
		typeof listed === "string"
			? `the API does not answer: ${listed}`
			: listed
				? "the API lists the chain, but has no prices of it yet"
				: "the API does not list the chain to this key";
	const next = `restart the workers with the relayers' keys of chain ${chainId}, restart the API, then run again`;
	return { state: "waiting", lines: [why, next] };
}
