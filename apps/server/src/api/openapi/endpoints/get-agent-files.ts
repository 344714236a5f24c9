import type { RouteDoc } from "../route-doc.ts";

export const getSkillDoc: RouteDoc = {
	id: "getSkill",
	summary: "How to swap, as a skill for agents",
	description:
		"A file in the form of Agent Skills. Its commands, run one after the other, go from nothing to a settled swap.",
	response: { contentType: "text/markdown", description: "The skill." },
	errors: [],
	example: { response: "---\nname: geoswap\n" },
};

export const getLlmsDoc: RouteDoc = {
	id: "getLlms",
	summary: "Contents of the docs, for models",
	description: "A list of the pages that this service serves, in the form of `llms.txt`.",
	response: { contentType: "text/plain", description: "The list." },
	errors: [],
	example: { response: "# Geoswap\n" },
};

export const getLlmsFullDoc: RouteDoc = {
	id: "getLlmsFull",
	summary: "The docs in one file, for models",
	description: "The skill and all pages for writers of agents, as Markdown, without `conformance`.",
	response: { contentType: "text/plain", description: "The pages." },
	errors: [],
	example: { response: "Page: /SKILL.md\n" },
};
