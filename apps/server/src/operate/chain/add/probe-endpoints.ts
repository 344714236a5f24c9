import { maskUrl } from "../../../config/mask-url.ts";
import { judgeFeeModel, judgeMethods } from "../../probe/judge-methods.ts";
import { type EndpointFacts, probeEndpoint } from "../../probe/probe-endpoint.ts";
import type { Adding, Outcome } from "./adding.ts";

/**
 * Measures each endpoint. Fails if the service cannot use one, or if the chain charges otherwise than the preset says.
 */
export async function probeEndpoints(adding: Adding): Promise<Outcome> {
	const { preset, options } = adding;
	const { rpcUrls } = options;
	const { chainId } = preset;
	const lines: string[] = [];
	let isRefused = false;
	const probed: EndpointFacts[] = [];
	for (const [i, url] of rpcUrls.entries()) {
		probed.push(await probeEndpoint({ url, chainId, webSocketUrl: options.webSocketUrls[i] }));
	}
	for (const [i, facts] of probed.entries()) {
		const host = maskUrl(rpcUrls[i] ?? "");
		adding.seenFinalitySeconds ??= facts.finality.value?.seconds;
		lines.push(
			`${host}: answers in ${known(facts.latencyMs.value?.p50)} ms, a block each ${known(facts.blockSeconds.value)} s, finalized is ${known(facts.finality.value?.seconds)} s behind, logs of ${known(facts.logRangeBlocks.value)} blocks`,
		);
		const others = probed.filter((one) => one !== facts);
		for (const { result, message } of [
			...judgeMethods(facts, others),
			judgeFeeModel(facts.feeModel, { kind: preset.kind }),
		]) {
			lines.push(`${result} ${host}: ${message}`);
			isRefused ||= result === "fail";
		}
	}
	return { state: isRefused ? "failed" : "done", lines };
}

function known(value: number | undefined): string {
	return value === undefined ? "an unknown number of" : String(value);
}
