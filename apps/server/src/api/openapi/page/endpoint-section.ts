import type { JsonSchema } from "../json-schema.ts";
import type { Answer, MediaType, OpenapiDocument, Operation } from "../openapi-document.ts";
import { escapeHtml } from "./escape-html.ts";
import { fieldTable, fieldTables } from "./field-tables.ts";
import { codeBlock, jsonCode } from "./json-code.ts";
import { renderMarkdown } from "./render-markdown.ts";

/** Returns the section of one endpoint: its description and fields on the left, its example on the right. */
export function endpointSection(
	{ method, path, operation }: { method: string; path: string; operation: Operation },
	{ components }: OpenapiDocument,
): string {
	const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
	const body = requestBody?.content["application/json"];
	const answer = answerOf(responses["200"]);
	const [[contentType = "", media] = []] = Object.entries(answer?.content ?? {});
	return `<section class="endpoint" id="${operationId}">
<div class="say">
<h3>${escapeHtml(summary)}</h3>
<p class="path"><span class="method ${method}">${method.toUpperCase()}</span> <code>${escapeHtml(path)}</code></p>
${renderMarkdown(description)}
${part("Parameters", parameters.length === 0 ? "" : fieldTable(parameters.map(({ name, required, schema, description: notes }) => ({ name, isRequired: required, schema: { ...schema, description: notes } }))))}
${part("Body", body ? fieldTables(resolve(body)) : "")}
${part("Answer", media ? answerFields(contentType, media) : "")}
${part("Errors", errorTable())}
</div>
<div class="show">
<h4>Request</h4>
${codeBlock(escapeHtml(curlOf({ method, path, operation })))}
${media && contentType === "application/json" ? `<h4>Answer</h4>${jsonCode(media.example)}` : ""}
</div>
</section>`;

	function resolve({ schema }: MediaType): JsonSchema {
		const name = String(schema.$ref ?? "").replace("#/components/schemas/", "");
		return components.schemas[name] ?? schema;
	}

	function answerFields(type: string, found: MediaType): string {
		return type === "application/json" ? fieldTables(resolve(found)) : `<p>${escapeHtml(type)}</p>`;
	}

	function errorTable(): string {
		const rows = Object.entries(responses).flatMap(([status, response]) =>
			Object.keys(answerOf(response)?.content["application/json"]?.examples ?? {}).map((code) => {
				const { next } = (components.examples[code]?.value ?? {}) as { next?: string };
				return `<tr><td>${status}</td><td><a href="/docs/errors/${code}"><code>${code}</code></a></td><td><code>${next}</code></td></tr>`;
			}),
		);
		return `<div class="scroll" tabindex="0"><table class="errors"><thead><tr><th>HTTP</th><th>Code</th><th>Next</th></tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
	}
}

function part(title: string, html: string): string {
	return html === "" ? "" : `<h4>${title}</h4>${html}`;
}

function answerOf(response: Operation["responses"][string] | undefined): Answer | undefined {
	return response && "content" in response ? response : undefined;
}

/** Returns a command that can be pasted into a shell which has the two variables. */
function curlOf({
	method,
	path,
	operation: { parameters = [], requestBody, security },
}: {
	method: string;
	path: string;
	operation: Operation;
}): string {
	const ofPath = parameters.filter((parameter) => parameter.in === "path");
	const ofQuery = parameters.filter(
		(parameter) => parameter.in === "query" && parameter.example !== undefined,
	);
	const filled = ofPath.reduce(
		(text, { name, example = "" }) => text.replace(`{${name}}`, String(example)),
		path,
	);
	const query = ofQuery.map(({ name, example = "" }) => `${name}=${encodeURIComponent(example)}`).join("&");
	const lines = [
		`curl ${method === "get" ? "" : `-X ${method.toUpperCase()} `}"$GEOSWAP_URL${filled}${query && `?${query}`}"`,
		...(security.length > 0 ? ['-H "x-api-key: $GEOSWAP_API_KEY"'] : []),
	];
	const body = requestBody?.content["application/json"]?.example;
	if (body !== undefined)
		lines.push(
			'-H "content-type: application/json"',
			`-d '${JSON.stringify(body, null, 2).replaceAll("\n", "\n  ")}'`,
		);
	return lines.join(" \\\n  ");
}
