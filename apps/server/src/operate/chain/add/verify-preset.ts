import { checkPreset } from "../check-preset.ts";
import type { Adding, Outcome } from "./adding.ts";
import { missingValues } from "./missing-values.ts";

/** Asks the chain about every address of the preset, and the operator for values that no source says. */
export async function verifyPreset({ client, preset, seenFinalitySeconds }: Adding): Promise<Outcome> {
	const findings = await checkPreset(client, preset);
	const wrong = findings.filter(({ result }) => result !== "ok");
	const lines = wrong.map(({ part, result, message }) => `${result} ${part}: ${message}`);
	const isRefused = wrong.some(({ result }) => result === "fail");
	const missing = missingValues(preset, { seenFinalitySeconds });
	lines.push(`${findings.length - wrong.length} of ${findings.length} checks passed`);
	if (missing.length > 0) {
		lines.push("no source says these values; give them:", ...missing);
	}
	return { state: isRefused || missing.length > 0 ? "failed" : "done", lines };
}
