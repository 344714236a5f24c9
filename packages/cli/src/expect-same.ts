import type { Deployment } from "@geoswap/protocol";
import { CliError } from "./cli-error.ts";
import { type Intent, resumeCommand } from "./intents.ts";
import { shownTerm } from "./shown-term.ts";

/** Returns the first of the fields whose value differs, or undefined. */
export function findDifference<Field extends keyof Intent>(
	intent: Intent,
	asked: Partial<Intent>,
	fields: readonly Field[],
): Field | undefined {
	const spelled = (value: unknown) => {
		const text = String(value ?? "");
		return text.startsWith("0x") ? text.toLowerCase() : text;
	};
	return fields.find((field) => spelled(intent[field]) !== spelled(asked[field]));
}

/**
 * Throws if a field differs. The SDK compares only with what was signed, which may be nothing yet, and does not compare
 * the minimum and the service. With pins, the message has amounts in whole tokens, and chains and tokens by name.
 */
export function expectSame(
	intent: Intent,
	asked: Partial<Intent>,
	fields: readonly (keyof Intent)[],
	pins?: Deployment,
): void {
	const field = findDifference(intent, asked, fields);
	if (field === undefined) return;
	const saved = shownTerm(pins, intent, field);
	const given = shownTerm(pins, { ...intent, ...asked }, field);
	throw new CliError(
		`${intent.id} belongs to another intent: its ${field} is ${saved ?? "not given"}, not ${given ?? "left out"}. Give a new intent a new id, or resume this one: ${resumeCommand(intent.id)}`,
		{
			code: "INTENT_CHANGED",
			section: "resuming",
			details: { field, saved: intent[field], asked: asked[field] },
		},
	);
}
