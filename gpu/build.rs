//! Compiles the shader for Vulkan from its source, `kernels/multiply.wgsl`.

use naga::back::spv::{Options, PipelineOptions, write_vec};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use std::error::Error;
use std::path::Path;

const SOURCE: &str = "kernels/multiply.wgsl";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={SOURCE}");
    println!("cargo::rerun-if-changed=build.rs");
    let source = std::fs::read_to_string(SOURCE)?;
    let module = naga::front::wgsl::parse_str(&source)
        .map_err(|error| error.emit_to_string_with_path(&source, SOURCE))?;
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
    let information = validator.validate(&module)?;
    let pipeline = PipelineOptions {
        shader_stage: naga::ShaderStage::Compute,
        entry_point: "multiply".into(),
    };
    let words = write_vec(&module, &information, &Options::default(), Some(&pipeline))?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let directory = std::env::var("OUT_DIR")?;
    std::fs::write(Path::new(&directory).join("multiply.spv"), bytes)?;
    Ok(())
}
