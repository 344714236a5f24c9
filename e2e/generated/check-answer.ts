import { type ErrorCode, errorCatalogue } from "@geoswap/protocol";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { Draft } from "./draft-request.ts";
import type { RawAnswer } from "./exchange.ts";
import type { DocumentedAnswer, OpenapiJson } from "./interface-document.ts";

const documentId = "https://geoswap.example/openapi.json";

/** Returns everything in an answer that the document does not allow. */
export type CheckAnswer = (draft: Draft, answer: RawAnswer) => string[];

export function createAnswerCheck(document: OpenapiJson): CheckAnswer {
	const ajv = new Ajv2020({ strict: false, allErrors: true });
	formats.default(ajv);
	ajv.addSchema({ ...document, $id: documentId });
	const validators = new Map<string, ValidateFunction>();
	const validatorOf = (pointer: string) => {
		const known = validators.get(pointer) ?? ajv.compile({ $ref: `${documentId}${pointer}` });
		validators.set(pointer, known);
		return known;
	};

	function checkBody(answer: RawAnswer, { schemaPointer, contentType }: DocumentedAnswer): string[] {
		const type = answer.headers["content-type"] ?? "";
		if (type.split(";")[0] !== contentType) return [`its type is "${type}", not ${contentType}`];
		if (contentType !== "application/json") return [];
		const body = parsed(answer.body);
		if (body === undefined) return ["its body is not JSON"];
		const validate = validatorOf(schemaPointer);
		return validate(body) ? [] : [ajv.errorsText(validate.errors)];
	}

	/**
	 * Checks the exact schema, because the default also allows answers of later versions, but this version's are
	 * documented exactly.
	 */
	function checkError(answer: RawAnswer): string[] {
		const schemaPointer = "#/components/schemas/KnownError";
		return checkBody(answer, { schemaPointer, contentType: "application/json", headers: [] });
	}

	return (draft, answer) => {
		const { operation, isReaching, method } = draft;
		const { status, headers } = answer;
		if (status >= 500) return [`it is ${status}`];
		const problems = headerProblems(answer);
		const documented = operation.answers[status];
		if (isReaching && !documented) return [...problems, `${operation.id} documents no ${status}`];
		if (isReaching && documented) {
			// A success has this header only if it reports that the call was not held.
			const needed = documented.headers.filter((name) => status !== 200 || name !== "retry-after");
			problems.push(...needed.flatMap((name) => (name in headers ? [] : [`no header ${name}`])));
			problems.push(...checkBody(answer, documented));
		} else if (status !== 200 && method !== "HEAD") {
			const anything = operation.answers.default;
			problems.push(...(anything ? checkBody(answer, anything) : ["the document has no default"]));
			problems.push(...checkError(answer));
		}
		if (status !== 200 && method !== "HEAD") problems.push(...errorProblems(answer));
		return problems;
	};
}

function headerProblems({ status, headers }: RawAnswer): string[] {
	const needed = [
		"x-request-id",
		...({ 405: ["allow"], 429: ["retry-after", "ratelimit-limit"] }[status] ?? []),
	];
	const counts = ["retry-after", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"];
	return [
		...needed.filter((name) => !headers[name]).map((name) => `no header ${name}`),
		...counts
			.filter((name) => name in headers && !/^\d+$/.test(headers[name] ?? ""))
			.map((name) => `${name} is no number`),
	];
}

/** Checks the promises about errors that go beyond the document. */
function errorProblems({ status, headers, body }: RawAnswer): string[] {
	const error = parsed(body) as Record<string, unknown> | undefined;
	if (error === undefined) return ["the error has no body"];
	const promised = errorCatalogue[error.code as ErrorCode] as { http: number } | undefined;
	return [
		...(promised?.http === status ? [] : [`${String(error.code)} is not ${status}`]),
		...(error.requestId === headers["x-request-id"] ? [] : ["the request's id is another in the body"]),
		...(/^\S.{10,}\.$/s.test(String(error.message)) ? [] : [`the message is "${String(error.message)}"`]),
	];
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
