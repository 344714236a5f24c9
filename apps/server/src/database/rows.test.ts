import { expect, test } from "vitest";
import { rowTypes } from "../../test/database/row-types.ts";
import { createTestDatabase } from "../../test/service/test-database.ts";

test("the row types match the migrated schema (otherwise run `pnpm generate`)", async () => {
	const database = await createTestDatabase();
	try {
		await expect(await rowTypes(database.owner)).toMatchFileSnapshot("rows.ts");
	} finally {
		await database.drop();
	}
});
