import { CliError } from "./cli-error.ts";
import { type Intent, resumeCommand } from "./intents.ts";

/**
 * Throws if a field differs. The SDK compares only with what was signed, which may be nothing yet, and does not compare
 * the minimum and the service.
 */
export function expectSame(intent: Intent, asked: Partial<Intent>, fields: readonly (keyof Intent)[]): void {
	const spelled = (value: unknown) => {
		const text = String(value ?? "");
		return text.startsWith("0x") ? text.toLowerCase() : text;
	};
	const field = fields.find((candidate) => spelled(intent[candidate]) !== spelled(asked[candidate]));
	if (field === undefined) return;
	throw new CliError(
		`${intent.id} belongs to another intent: its ${field} is ${intent[field] ?? "not given"}, not ${asked[field] ?? "left out"}. Give a new intent a new id, or resume this one: ${resumeCommand(intent.id)}`,
		{
			code: "INTENT_CHANGED",
			section: "resuming",
			details: { field, saved: intent[field], asked: asked[field] },
		},
	);
}
