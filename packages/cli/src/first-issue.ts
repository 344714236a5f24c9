import type * as z from "zod";

/** Returns the first problem of a file, with the path of its field. */
export function firstIssue({ issues }: z.ZodError): string {
	const [issue] = issues;
	return issue ? `${issue.path.join(".") || "its content"}: ${issue.message}` : "unreadable";
}
