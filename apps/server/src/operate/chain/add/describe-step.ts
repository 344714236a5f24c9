import type { StepReport } from "./add-chain.ts";

/** Returns a step's report as printed text: its state and name, and its lines below. */
export function describeStep({ step, state, lines }: StepReport): string {
	return [`${state.padEnd(13)} ${step}`, ...lines.map((line) => `${"".padEnd(13)}   ${line}`)].join("\n");
}
