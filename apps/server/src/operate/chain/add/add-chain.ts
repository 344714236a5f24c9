import { DeployError } from "@geoswap/contracts";
import { ConfigError } from "../../../config/config-error.ts";
import type { EvmPreset } from "../preset-schema.ts";
import { type Adding, type AddOptions, type Outcome, startAdding } from "./adding.ts";
import { checkFunding } from "./check-funding.ts";
import { makeContracts } from "./make-contracts.ts";
import { offerChain } from "./offer-chain.ts";
import { probeEndpoints } from "./probe-endpoints.ts";
import { requestAttesters } from "./request-attesters.ts";
import { requestService } from "./request-service.ts";
import { sendCanary } from "./send-canary.ts";
import { verifyPreset } from "./verify-preset.ts";
import { writeConfiguration } from "./write-configuration.ts";

/** The steps, in the order in which they are taken. */
const steps = {
	endpoints: probeEndpoints,
	preset: verifyPreset,
	contracts: makeContracts,
	configuration: writeConfiguration,
	attesters: requestAttesters,
	funding: checkFunding,
	service: requestService,
	canary: sendCanary,
	offer: offerChain,
} satisfies Record<string, (adding: Adding) => Outcome | Promise<Outcome>>;
type AddStep = keyof typeof steps;

export type StepReport = Outcome & { step: AddStep };

/**
 * Adds the preset's chain to the service, step by step. Every step looks first at what is already so, and reports to
 * `tell`. Returns the last report.
 */
export async function addChain(
	preset: EvmPreset,
	options: AddOptions,
	tell: (report: StepReport) => void,
): Promise<StepReport> {
	const adding = startAdding(preset, options);
	let last: StepReport = { step: "endpoints", state: "failed", lines: [] };
	for (const step of Object.keys(steps) as AddStep[]) {
		last = { step, ...(await outcomeOf(step, adding)) };
		tell(last);
		if (last.state === "waiting" || last.state === "failed") break;
	}
	return last;
}

/** Takes the step. Returns an error that a person can act on as its outcome. */
async function outcomeOf(step: AddStep, adding: Adding): Promise<Outcome> {
	try {
		return await steps[step](adding);
	} catch (error) {
		if (error instanceof DeployError)
			return { state: "failed", lines: [error.message, `next: ${error.next}`] };
		if (error instanceof ConfigError) return { state: "failed", lines: [error.message] };
		const { shortMessage, message } = error as { shortMessage?: string; message?: string };
		return { state: "failed", lines: [shortMessage ?? message ?? String(error)] };
	}
}
