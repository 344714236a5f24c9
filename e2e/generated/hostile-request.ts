import fc from "fast-check";
import { type Draft, keyPlace } from "./draft-request.ts";
import { hostileText, hostileValue, injections } from "./hostile-text.ts";

/** Generates a malicious request, with something hostile in any place that holds a value. */
export function hostile(valid: fc.Arbitrary<Draft>): fc.Arbitrary<Draft> {
	return valid.chain((draft) =>
		fc.oneof(...hostileTwists(draft)).map((twisted): Draft => ({ ...twisted, class: "hostile" })),
	);
}

function hostileTwists(draft: Draft): fc.Arbitrary<Draft>[] {
	const { operation, body } = draft;
	const json = body && !Buffer.isBuffer(body) ? (body.json as Record<string, unknown>) : undefined;
	const names = Object.keys(json ?? {});
	return [
		...(json && names.length > 0
			? [
					fc.tuple(fc.constantFrom(...names), hostileValue).map(([name, value]) => ({
						...draft,
						twist: `${name} is hostile`,
						body: { json: { ...json, [name]: value } },
					})),
					fc.array(hostileValue, { minLength: names.length, maxLength: names.length }).map((values) => ({
						...draft,
						twist: "every field is hostile",
						body: { json: Object.fromEntries(names.map((name, i) => [name, values[i]])) },
					})),
					fc.array(fc.constantFrom(...injections), { minLength: 1, maxLength: 3 }).map((keys) => ({
						...draft,
						twist: "hostile names",
						body: { json: { ...json, ...Object.fromEntries(keys.map((key) => [key, key])) } },
					})),
				]
			: []),
		...(draft.query.length > 0
			? [
					fc.tuple(fc.nat(), hostileText).map(([n, text]) => ({
						...draft,
						twist: "a hostile parameter",
						query: draft.query.map((part, i) =>
							i === n % draft.query.length ? `${part.split("=")[0]}=${encoded(text)}` : part,
						),
					})),
				]
			: []),
		hostileText.map((text) => ({
			...draft,
			twist: "one more parameter",
			query: [...draft.query, encoded(text)],
		})),
		...(operation.path.includes("{")
			? [
					hostileText
						.filter((text) => text !== "" && text.length < 5_000)
						.map((text) => ({
							...draft,
							twist: "a hostile segment",
							isReaching: false,
							path: operation.path.replace(/\{\w+\}/, encoded(text)),
						})),
				]
			: []),
		hostileText
			.filter((text) => text.length < 5_000)
			.map((text) => ({ ...draft, twist: "a hostile path", path: `/${encoded(text)}`, isReaching: false })),
		...(operation.needsKey
			? [
					hostileText
						.filter((text) => text.length < 9_000)
						.map((text) => ({
							...draft,
							twist: "a hostile key",
							isReaching: false,
							headers: draft.headers.map(([name, value]): [string, string] =>
								value === keyPlace ? [name, text] : [name, value],
							),
						})),
				]
			: []),
		hostileText
			.filter((text) => text.length < 5_000)
			.map((text) => ({
				...draft,
				twist: "a hostile header",
				isReaching: false,
				headers: [...draft.headers, ["user-agent", text], ["traceparent", text]],
			})),
	];
}

/** Encodes text for a URL, in which lone UTF-16 surrogates have no form. */
function encoded(text: string): string {
	return encodeURIComponent(text.toWellFormed()).slice(0, 6_000);
}
