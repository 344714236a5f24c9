import type { Route } from "../http/route.ts";
import { getLlmsDoc, getLlmsFullDoc, getSkillDoc } from "../openapi/endpoints/get-agent-files.ts";
import type { RouteDoc } from "../openapi/route-doc.ts";

/** GET /SKILL.md, GET /llms.txt, GET /llms-full.txt: where agents and their models look first. */
export function getAgentFiles(texts: { skill: string; llms: string; llmsFull: string }): Route[] {
	return [
		route("/SKILL.md", { doc: getSkillDoc, contentType: "text/markdown; charset=utf-8", text: texts.skill }),
		route("/llms.txt", { doc: getLlmsDoc, contentType: "text/plain; charset=utf-8", text: texts.llms }),
		route("/llms-full.txt", {
			doc: getLlmsFullDoc,
			contentType: "text/plain; charset=utf-8",
			text: texts.llmsFull,
		}),
	];
}

function route(
	path: string,
	{ doc, contentType, text }: { doc: RouteDoc; contentType: string; text: string },
): Route {
	return {
		method: "GET",
		path,
		operation: undefined,
		doc,
		contentType,
		headers: { "cache-control": "public, max-age=300" },
		handle: async () => text,
	};
}
