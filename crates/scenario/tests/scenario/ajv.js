// Prints the files that a JSON schema accepts, then "done". Arguments: the schema and the files.
// ajv compiles patterns with the flag `u` and refuses keywords that it does not know.
const fs = require("fs");
const Ajv = require("ajv/dist/2020");
const [schema, ...files] = process.argv.slice(1);
const read = (path) => JSON.parse(fs.readFileSync(path, "utf8"));
// These two ask for a style that JSON Schema does not.
const ajv = new Ajv({ strict: true, strictRequired: false, strictTypes: false });
const validate = ajv.compile(read(schema));
for (const file of files) if (validate(read(file))) console.log(file);
console.log("done");
